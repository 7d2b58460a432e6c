// Images of recorded moments: /media/cameras/{id}/recorded.jpg, authorized by the signed token in the URL. The moment
// is not signed, so that one URL serves a whole timeline; the size is.

import type { FastifyInstance } from 'fastify'
import { type Static, Type } from 'typebox'
import { TimeIn } from '../../../contract/schema.ts'
import type { MediaTokens } from '../../auth/media-token.ts'
import { AppError } from '../../base/error.ts'
import { createLiveView } from '../../model/live-view.ts'
import { getTime } from '../../model/time-range.ts'
import type { CameraAccess } from '../camera-access.ts'
import type { RecordedImageSource } from '../deps.ts'
import { mediaFiles } from '../media-urls.ts'
import { refuse } from '../path-camera.ts'
import { readQuery } from '../read-fields.ts'
import { sendBytes } from './send-media.ts'
import { tokenOf } from './token-of.ts'

export type RecordedImageRoutesOptions = {
  readonly tokens: Pick<MediaTokens, 'verify'>
  readonly access: Pick<CameraAccess, 'isGrantedRecordings' | 'markViewed'>
  readonly images: RecordedImageSource
}

const ImageQuery = Type.Object({ at: TimeIn('The moment.') })

export function registerRecordedImageRoutes(
  server: FastifyInstance,
  { tokens, access, images }: RecordedImageRoutesOptions,
): void {
  server.get(`/media/cameras/:camera_id/${mediaFiles.recorded_image}`, async (request, reply) => {
    const { camera_id } = request.params as { camera_id: string }
    const grant = tokens.verify(tokenOf(request), { kind: 'recorded_image', cameraId: Number(camera_id) })
    if (!(await access.isGrantedRecordings(grant)))
      throw new AppError('forbidden', 'access to these recordings was revoked')
    refuse(request)
    await access.markViewed(grant.userId, grant.cameraId)
    const given = new URLSearchParams(request.query as string)
    // Programs that add the same size to every URL may name the signed one again.
    const { maxWidth, maxHeight } = createLiveView({
      max_width: Number(given.get('max_width')),
      max_height: Number(given.get('max_height')),
    })
    if (given.has('max_width') && maxWidth !== grant.view.maxWidth) throw unsignedSize('max_width')
    if (given.has('max_height') && maxHeight !== grant.view.maxHeight) throw unsignedSize('max_height')
    const query = readQuery(ImageQuery, request.query as string) as Static<typeof ImageQuery>
    const { jpeg } = await images.getImage(grant.cameraId, getTime('at', query.at), grant.view, grant.userId)
    sendBytes(reply, 'image/jpeg', jpeg)
  })
}

function unsignedSize(name: string): AppError {
  const reason = 'The size is part of the signed URL: send it to …/recording/pictures/ instead.'
  return new AppError('invalid', `${name}: ${reason}`, { fields: { [name]: [reason] } })
}

// Pictures of recorded moments: /media/cameras/{id}/recorded.jpg, opened by the signed token in the URL. The moment and the size are
// not signed, so that one address serves a whole timeline.

import type { FastifyInstance } from 'fastify'
import { type Static, Type } from 'typebox'
import { TimeIn } from '../../../contract/schema.ts'
import type { MediaTokens } from '../../auth/media-token.ts'
import { AppError } from '../../base/error.ts'
import { createLiveView } from '../../model/live-view.ts'
import { getTime } from '../../model/time-range.ts'
import type { CameraAccess } from '../camera-access.ts'
import type { PicturesOfFootage } from '../deps.ts'
import { mediaFiles } from '../media-urls.ts'
import { readQuery } from '../read-fields.ts'
import { sendBytes } from './send-media.ts'
import { tokenOf } from './token-of.ts'

export type PictureRoutesOptions = {
  readonly tokens: Pick<MediaTokens, 'verify'>
  readonly access: Pick<CameraAccess, 'isGrantedRecordings' | 'noteLook'>
  readonly pictures: PicturesOfFootage
}

const pixels = Type.Optional(Type.Integer({ minimum: 1, maximum: 2147483647 }))
const PictureQuery = Type.Object({ at: TimeIn('The moment.'), max_width: pixels, max_height: pixels })

export function registerPictureRoutes(
  server: FastifyInstance,
  { tokens, access, pictures }: PictureRoutesOptions,
): void {
  server.get(`/media/cameras/:camera_id/${mediaFiles.recorded_picture}`, async (request, reply) => {
    const { camera_id } = request.params as { camera_id: string }
    const grant = tokens.verify(tokenOf(request), { kind: 'recorded_picture', cameraId: Number(camera_id) })
    if (!(await access.isGrantedRecordings(grant)))
      throw new AppError('forbidden', 'the right to see recordings was withdrawn')
    await access.noteLook(grant.userId, grant.cameraId)
    const query = readQuery(PictureQuery, request.query as string) as Static<typeof PictureQuery>
    const { jpeg } = await pictures.picture(
      grant.cameraId,
      getTime('at', query.at),
      createLiveView(query),
      grant.userId,
    )
    sendBytes(reply, 'image/jpeg', jpeg)
  })
}

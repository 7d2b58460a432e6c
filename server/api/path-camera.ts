// The camera that the path of a request names, and its recording, as the endpoint declares them. What the caller may
// not see is 404, to the byte like what does not exist.

import type { IncomingMessage } from 'node:http'
import type { Endpoint } from '../../contract/endpoint.ts'
import { AppError } from '../base/error.ts'
import type { Recording } from '../store/cameras/recordings.ts'
import type { Store } from '../store/store.ts'
import type { CameraAccess, GuestRight } from './camera-access.ts'
import { getOwnCamera } from './own-camera.ts'

declare module 'node:http' {
  interface IncomingMessage {
    /** Why a camera cannot be asked now, for whoever may see it. */
    refusal?: AppError | undefined
  }
}

/** Throws the refusal, if there is one: once it is known that whoever asks may see the camera. */
export function refuse({ raw }: { readonly raw: IncomingMessage }): void {
  if (raw.refusal) throw raw.refusal
}

export type PathCameraOptions = {
  readonly store: Pick<Store, 'cameras' | 'recordings'>
  readonly access: Pick<CameraAccess, 'getGuestRight' | 'markViewed'>
}

/** Loads what a handler with `camera` receives besides the request. Throws 'not_found'. */
export async function loadPathCamera(
  { store, access }: PathCameraOptions,
  { camera, recording }: Pick<Endpoint, 'camera' | 'recording'>,
  userId: number,
  cameraId: number,
) {
  const found =
    camera === 'own'
      ? { camera: await getOwnCamera(store, userId, cameraId) }
      : { share: await access.getGuestRight(userId, cameraId) }
  if (!recording) return found
  if (found.share) checkCanViewRecordings(found.share, userId, cameraId)
  return { ...found, recording: await getRecording(store, cameraId) }
}

function checkCanViewRecordings({ canViewRecordings }: GuestRight, userId: number, cameraId: number): void {
  if (!canViewRecordings) throw new AppError('not_found', `user ${userId} may not see recordings of camera ${cameraId}`)
}

/** Throws 'not_found', also while recording is off. */
async function getRecording({ recordings }: Pick<Store, 'recordings'>, cameraId: number): Promise<Recording> {
  const recording = await recordings.find(cameraId)
  if (recording === undefined || recording.deactivatedAtMs !== null)
    throw new AppError('not_found', `camera ${cameraId} is not recorded`)
  return recording
}

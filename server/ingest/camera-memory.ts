// What was learned of a camera, for its next connection. In memory: a camera may be another after its firmware was updated.

import { KeepAlive } from './keep-alive.ts'
import { TransportChoice } from './transport-choice.ts'

export type CameraMemory = {
  readonly keepAlive: KeepAlive
  readonly transport: TransportChoice
  /** Wall clock of the last frame, Unix milliseconds: the next ones do not go behind it. */
  lastWallMs: number
}

export function createCameraMemory(): CameraMemory {
  return { keepAlive: new KeepAlive(), transport: new TransportChoice(), lastWallMs: 0 }
}

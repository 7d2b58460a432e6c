// What was learned about a camera, kept for its next connection. It is held in memory only, because a firmware update
// may change the camera's behavior.

import type { FrameMark } from '../frames/camera-stream.ts'
import { RunLimit } from '../frames/run-limit.ts'
import { KeepAlive } from './keep-alive.ts'
import { TransportChoice } from './transport-choice.ts'

export type CameraMemory = {
  readonly keepAlive: KeepAlive
  readonly transport: TransportChoice
  /** Time of the last frame on the arrival clock (arrival-clock.ts). Later frames never get an earlier time. */
  lastWallMs: number
  readonly runLimit: RunLimit
  /** The initial rate of the next connection; see `WallClock.rate`. */
  clockRate: number
  /** `ArrivalClock.setMs` of the last run; undefined before the first. */
  setMs: number | undefined
  /** The last key frame that was published. A camera may begin the next connection with it. */
  lastKey: FrameMark | undefined
  /** Whether the target of the last connection is publicly reachable; see `TestedAddress`. */
  isPublic: boolean
}

export function createCameraMemory(): CameraMemory {
  return {
    keepAlive: new KeepAlive(),
    transport: new TransportChoice(),
    lastWallMs: 0,
    runLimit: new RunLimit(),
    clockRate: 1,
    setMs: undefined,
    lastKey: undefined,
    isPublic: false,
  }
}

// What was learned of a camera, for its next connection. In memory: a camera may be another after its firmware was
// updated.

import { RunLimit } from '../frames/run-limit.ts'
import { KeepAlive } from './keep-alive.ts'
import { TransportChoice } from './transport-choice.ts'

export type CameraMemory = {
  readonly keepAlive: KeepAlive
  readonly transport: TransportChoice
  /** Time of the last frame, by the clock of arrivals (arrival-clock.ts). Later frames are never stamped earlier. */
  lastWallMs: number
  readonly runLimit: RunLimit
  /** See `WallClock.rate`: the next connection begins with it. */
  clockRate: number
  /** `ArrivalClock.setMs` of the last run; undefined before the first. */
  setMs: number | undefined
  /** Whether the last connection went, or was to go, where anybody can go without us; see `TestedAddress`. */
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
    isPublic: false,
  }
}

// Counts the frames that a camera's readers get, and freezes: times without a frame inside a run, as a viewer sees
// them.

import { FrameRhythm } from '../model/frame-rhythm.ts'
import type { HubSink } from './camera-hub.ts'
import type { HubItem } from './hub-item.ts'

/** This many frames after a pause show whether the camera sends at its former rate. */
const framesAfterPause = 3

type Pause = { readonly length90k: number; frames: number; since90k: number }

export class FrameMeter implements HubSink {
  /** The meter keeps no frames. */
  readonly holdsMemory = true
  /** Times without a frame for more than a second, inside runs. */
  freezes = 0
  frozenMs = 0
  readonly #rhythm = new FrameRhythm()
  #last90k: number | undefined
  /** A time without frames that was not caused by loss, and what followed it. */
  #pause: Pause | undefined

  push(item: HubItem): void {
    if (item.kind === 'audio') return
    if (item.kind !== 'video') {
      this.#last90k = undefined
      this.#pause = undefined
      return
    }
    const interval90k = this.#last90k === undefined ? undefined : item.dts90k - this.#last90k
    this.#last90k = item.dts90k
    if (interval90k !== undefined) this.#take(interval90k, item.isAfterLoss === true)
  }

  #take(interval90k: number, isAfterLoss: boolean): void {
    const { usual90k } = this.#rhythm
    const hole = this.#rhythm.take(interval90k, isAfterLoss)
    const length90k = interval90k - usual90k
    if (hole === 'loss') this.#count(length90k)
    else if (hole === 'pause') this.#pause = { length90k, frames: 0, since90k: 0 }
    else if (this.#pause) this.#judge(this.#pause, interval90k)
  }

  /** A camera that now sends fewer frames has not paused. */
  #judge(pause: Pause, interval90k: number): void {
    pause.frames++
    pause.since90k += interval90k
    if (pause.frames < framesAfterPause) return
    if (pause.since90k / pause.frames <= pause.length90k / 4) this.#count(pause.length90k)
    this.#pause = undefined
  }

  #count(length90k: number): void {
    this.freezes++
    this.frozenMs += length90k / 90
  }
}

// Suspends cameras whose streams crashed a media worker, which interrupts all cameras of that worker. One crash may be
// a coincidence. A camera that crashes a second worker is suspended, each time for longer.

import type { Clock } from '../base/clock.ts'
import { Timer } from '../base/timer.ts'

export type CameraSuspensionsOptions = {
  readonly clock: Clock
  /** Called when a suspension ends. */
  readonly onEnd: (cameraId: number) => void
  /** Crashes within this time are counted together. */
  readonly windowMs?: number
  /** Length of the first suspension. Each further one is twice as long. */
  readonly firstMs?: number
  readonly longestMs?: number
}

type Suspect = { endsMs: number[]; suspensions: number; readonly timer: Timer }

const hourMs = 3_600_000

export class CameraSuspensions {
  readonly #options: Required<CameraSuspensionsOptions>
  readonly #suspects = new Map<number, Suspect>()

  constructor(options: CameraSuspensionsOptions) {
    this.#options = { windowMs: hourMs, firstMs: hourMs / 6, longestMs: 24 * hourMs, ...options }
  }

  /** Notes that this camera crashed a worker. Returns how long it is suspended, or undefined if it may continue. */
  note(cameraId: number): number | undefined {
    const { clock, windowMs, firstMs, longestMs } = this.#options
    const nowMs = clock.monotonicMs()
    const suspect = this.#suspects.get(cameraId) ?? { endsMs: [], suspensions: 0, timer: new Timer(clock) }
    this.#suspects.set(cameraId, suspect)
    suspect.endsMs = [...suspect.endsMs.filter((ms) => nowMs - ms < windowMs), nowMs]
    // A camera that was suspended before is suspended again immediately.
    if (suspect.endsMs.length < 2 && suspect.suspensions === 0) return undefined
    const forMs = Math.min(longestMs, firstMs * 2 ** Math.min(suspect.suspensions++, 20))
    suspect.endsMs = []
    suspect.timer.start(forMs, () => this.#options.onEnd(cameraId))
    return forMs
  }

  isSuspended(cameraId: number): boolean {
    return this.#suspects.get(cameraId)?.timer.isRunning === true
  }

  get count(): number {
    return [...this.#suspects.values()].filter(({ timer }) => timer.isRunning).length
  }

  /** Forgets a camera that was changed or removed. `onEnd` is not called. */
  forget(cameraId: number): void {
    this.#suspects.get(cameraId)?.timer.stop()
    this.#suspects.delete(cameraId)
  }

  /** Cancels all timers. */
  close(): void {
    for (const { timer } of this.#suspects.values()) timer.stop()
  }
}

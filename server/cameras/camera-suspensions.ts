// Which cameras are suspended for a while because their streams ended a media worker, with all the cameras it had. One such end may be
// chance. A camera that ends a second worker is left out, each time for longer.

import type { Clock } from '../base/clock.ts'

export type CameraSuspensionsOptions = {
  readonly clock: Clock
  /** A suspension is over. */
  readonly onEnd: (cameraId: number) => void
  /** Ends of workers that are counted together. */
  readonly windowMs?: number
  /** How long the first suspension lasts; each further one takes twice as long. */
  readonly firstMs?: number
  readonly longestMs?: number
}

type Suspect = { endsMs: number[]; suspensions: number; timer: AbortController | undefined }

const hourMs = 3_600_000

export class CameraSuspensions {
  readonly #options: Required<CameraSuspensionsOptions>
  readonly #suspects = new Map<number, Suspect>()

  constructor(options: CameraSuspensionsOptions) {
    this.#options = { windowMs: hourMs, firstMs: hourMs / 6, longestMs: 24 * hourMs, ...options }
  }

  /** A worker ended over this camera. Returns for how long it is suspended from now on; undefined when it may go on. */
  note(cameraId: number): number | undefined {
    const { clock, windowMs, firstMs, longestMs } = this.#options
    const nowMs = clock.monotonicMs()
    const suspect = this.#suspects.get(cameraId) ?? { endsMs: [], suspensions: 0, timer: undefined }
    this.#suspects.set(cameraId, suspect)
    suspect.endsMs = [...suspect.endsMs.filter((ms) => nowMs - ms < windowMs), nowMs]
    // A camera that was suspended before is suspended at once: it gets no second chance each time.
    if (suspect.endsMs.length < 2 && suspect.suspensions === 0) return undefined
    const forMs = Math.min(longestMs, firstMs * 2 ** Math.min(suspect.suspensions++, 20))
    suspect.endsMs = []
    suspect.timer?.abort()
    const timer = new AbortController()
    suspect.timer = timer
    clock.sleep(forMs, timer.signal).then(
      () => {
        if (timer.signal.aborted) return
        suspect.timer = undefined
        this.#options.onEnd(cameraId)
      },
      () => {}, // lifted
    )
    return forMs
  }

  isSuspended(cameraId: number): boolean {
    return this.#suspects.get(cameraId)?.timer !== undefined
  }

  get count(): number {
    return [...this.#suspects.values()].filter(({ timer }) => timer).length
  }

  /** The camera was changed or removed: what is known of it no longer applies. `onEnd` is not called. */
  forget(cameraId: number): void {
    this.#suspects.get(cameraId)?.timer?.abort()
    this.#suspects.delete(cameraId)
  }

  /** Ends all timers. */
  close(): void {
    for (const { timer } of this.#suspects.values()) timer?.abort()
  }
}

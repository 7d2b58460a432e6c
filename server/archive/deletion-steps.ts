// Deletes many segments in steps so small that nobody notices: their size follows from how long the last one took.

import { type DeletionContext, deleteSegments } from './deletion.ts'

const targetMs = 5
const pauseMs = 5
const firstSize = 8
const maxSize = 64

/** How long the latest steps took, for the metrics. */
const keptTimes = 256

export class DeletionSteps {
  #size = firstSize
  #steps = 0
  readonly #timesMs: number[] = []

  /** Deletes what comes, until it ends or `signal` aborts. `onDeleted` is told of each one that is gone. */
  async delete<T extends { readonly id: number }>(
    context: DeletionContext,
    doomed: AsyncIterable<T>,
    { signal, onDeleted }: { readonly signal: AbortSignal; readonly onDeleted: (segment: T) => void },
  ): Promise<void> {
    let step: T[] = []
    const finish = async () => {
      await this.#measure(context, step)
      for (const segment of step) onDeleted(segment)
      step = []
    }
    for await (const segment of doomed) {
      if (signal.aborted) return
      step.push(segment)
      if (step.length < this.#size) continue
      await finish()
      await context.clock.sleep(pauseMs, signal).catch(() => {})
    }
    if (step.length > 0) await finish()
  }

  /** Of the latest steps: `p95Ms` of their times, 0 before the first. */
  stats(): { steps: number; p95Ms: number } {
    const sorted = this.#timesMs.toSorted((a, b) => a - b)
    return { steps: this.#steps, p95Ms: sorted[Math.floor(sorted.length * 0.95)] ?? 0 }
  }

  async #measure(context: DeletionContext, step: readonly { readonly id: number }[]): Promise<void> {
    const startMs = context.clock.monotonicMs()
    await deleteSegments(
      context,
      step.map(({ id }) => id),
    )
    const tookMs = context.clock.monotonicMs() - startMs
    this.#steps++
    this.#timesMs.push(tookMs)
    if (this.#timesMs.length > keptTimes) this.#timesMs.shift()
    const factor = Math.min(2, Math.max(0.5, targetMs / Math.max(tookMs, 0.1)))
    this.#size = Math.min(maxSize, Math.max(1, Math.round(this.#size * factor)))
  }
}

// Deletes many segments in steps so small that nobody notices: their size follows from how long the last one took.

import type { Garbage } from '../model/segment-views.ts'
import { type DeletionContext, deleteFiles, forgetGarbage } from './deletion.ts'

/** Of a usual step; now and then a disk takes twice as long. */
const targetMs = 4
const pauseMs = 5
const firstSize = 2
const maxSize = 16
/** Garbage is forgotten after so many files, and at the end. */
const forgetAfter = 256

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
    const gone: Garbage[] = []
    const finish = async () => {
      gone.push(...(await this.#measure(context, step)))
      for (const segment of step) onDeleted(segment)
      step = []
    }
    for await (const segment of doomed) {
      if (signal.aborted) break
      step.push(segment)
      if (step.length < this.#size) continue
      await finish()
      if (gone.length >= forgetAfter) await forgetGarbage(context, gone.splice(0))
      await context.clock.sleep(pauseMs, signal).catch(() => {})
    }
    if (step.length > 0 && !signal.aborted) await finish()
    await forgetGarbage(context, gone)
  }

  /** Of the latest steps: `p95Ms` of their times, 0 before the first. */
  stats(): { steps: number; p95Ms: number } {
    const sorted = this.#timesMs.toSorted((a, b) => a - b)
    return { steps: this.#steps, p95Ms: sorted[Math.floor(sorted.length * 0.95)] ?? 0 }
  }

  async #measure(context: DeletionContext, step: readonly { readonly id: number }[]): Promise<Garbage[]> {
    const startMs = context.clock.monotonicMs()
    const gone = await deleteFiles(
      context,
      step.map(({ id }) => id),
    )
    const tookMs = context.clock.monotonicMs() - startMs
    this.#steps++
    this.#timesMs.push(tookMs)
    if (this.#timesMs.length > keptTimes) this.#timesMs.shift()
    const factor = Math.min(2, Math.max(0.5, targetMs / Math.max(tookMs, 0.1)))
    this.#size = Math.min(maxSize, Math.max(1, Math.round(this.#size * factor)))
    return gone
  }
}

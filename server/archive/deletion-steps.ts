// Deletes many segments without a noticeable load. Rows become pending deletions in chunks so small that they hardly
// block the main thread. The waits for the disk are shared by a batch of files, which grows with the amount of work.
// docs/design/retention.md

import { pause } from '../base/pause.ts'
import type { PendingDeletion } from '../model/segment-views.ts'
import { type DeletionContext, deletePendingFiles, forgetPendingDeletions } from './deletion.ts'

/** How long a chunk may block the main thread. Occasionally it takes twice as long. */
const targetMs = 4
const firstChunk = 4
const maxChunk = 64
/** The pause between two chunks. */
const breathMs = 1

/** Files per batch. The first batches are small, because usually there are only a few files. */
const firstBatch = 2
const firstUrgentBatch = 64
const maxBatch = 256
/** The pause between two batches, when there is no hurry. */
const pauseMs = 5

/** Pending deletions are removed after this many files, and at the end. */
const forgetAfter = 256

/** How many of the latest chunks the metrics include. */
const keptTimes = 256

export type DeletionOptions<T> = {
  readonly signal: AbortSignal
  /** Called for each deleted segment. */
  readonly onDeleted: (segment: T) => void
  /** Space is needed at once. */
  readonly isUrgent?: boolean
}

export class DeletionSteps {
  #chunk = firstChunk
  #steps = 0
  readonly #timesMs: number[] = []

  /** Deletes the given segments until the source ends or `signal` aborts. */
  async delete<T extends { readonly id: number }>(
    context: DeletionContext,
    planned: AsyncIterable<T>,
    { signal, onDeleted, isUrgent = false }: DeletionOptions<T>,
  ): Promise<void> {
    let size = isUrgent ? firstUrgentBatch : firstBatch
    let batch: T[] = []
    const gone: PendingDeletion[] = []
    const finish = async () => {
      gone.push(...(await this.#deleteBatch(context, batch)))
      for (const segment of batch) onDeleted(segment)
      batch = []
      if (gone.length >= forgetAfter) await forgetPendingDeletions(context, gone.splice(0))
    }
    for await (const segment of planned) {
      if (signal.aborted) break
      batch.push(segment)
      if (batch.length < size) continue
      await finish()
      size = Math.min(maxBatch, size * 2)
      await pause(context.clock, isUrgent ? breathMs : pauseMs, signal)
    }
    if (batch.length > 0 && !signal.aborted) await finish()
    await forgetPendingDeletions(context, gone)
  }

  /**
   * Statistics of the latest chunks. `p95Ms`: 95th percentile of the time for which they blocked the main thread, 0
   * before the first.
   */
  stats(): { steps: number; p95Ms: number } {
    const sorted = this.#timesMs.toSorted((a, b) => a - b)
    return { steps: this.#steps, p95Ms: sorted[Math.floor(sorted.length * 0.95)] ?? 0 }
  }

  /** All rows are pending deletions on the disk before the first file is deleted. */
  async #deleteBatch(context: DeletionContext, batch: readonly { readonly id: number }[]): Promise<PendingDeletion[]> {
    const pending: PendingDeletion[] = []
    for (let i = 0; i < batch.length; ) {
      if (i > 0) await context.clock.sleep(breathMs)
      const ids = batch.slice(i, i + this.#chunk).map(({ id }) => id)
      pending.push(...(await this.#mark(context, ids)))
      i += ids.length
    }
    return deletePendingFiles(context, pending)
  }

  async #mark({ clock, rows }: DeletionContext, ids: readonly number[]): Promise<PendingDeletion[]> {
    const startMs = clock.monotonicMs()
    const pending = await rows.markPendingDeletions(ids)
    const tookMs = clock.monotonicMs() - startMs
    this.#steps++
    this.#timesMs.push(tookMs)
    if (this.#timesMs.length > keptTimes) this.#timesMs.shift()
    if (ids.length >= this.#chunk || tookMs > targetMs) {
      const factor = Math.min(2, Math.max(0.5, targetMs / Math.max(tookMs, 0.1)))
      this.#chunk = Math.min(maxChunk, Math.max(firstChunk, Math.round(ids.length * factor)))
    }
    return pending
  }
}

// Deletes old events, and the oldest events of cameras that have too many. Works in small steps, so that requests can
// run in between.

import type { Clock } from './base/clock.ts'
import type { Logger } from './base/log.ts'
import { pause } from './base/pause.ts'
import { repeat } from './base/repeat.ts'
import type { Events } from './store/cameras/events.ts'

export type EventRetentionOptions = {
  readonly events: Pick<Events, 'removeReceivedBefore' | 'listOverfull' | 'removeLast'>
  readonly clock: Clock
  /** The clock that decides which events are too old. */
  readonly deletionMs: () => number
  readonly log: Logger
  /** Maximum age since they were received; undefined for no limit. */
  readonly maxAgeMs: number | undefined
  readonly maxPerCamera: number
}

const intervalMs = 60_000
const pauseMs = 10

/** Runs every minute until `signal` aborts. Rejects if the store fails; the caller restarts it. */
export async function runEventRetention(options: EventRetentionOptions, signal: AbortSignal): Promise<void> {
  const clean = async () => {
    const removed = await removeOldEvents(options, signal)
    if (removed > 0) options.log.info({ events: removed }, 'old events removed')
  }
  await repeat(clean, { clock: options.clock, signal, intervalMs })
}

/** Runs once and returns the number of deleted events. */
export async function removeOldEvents(options: EventRetentionOptions, signal: AbortSignal): Promise<number> {
  const { events, clock, deletionMs, maxAgeMs, maxPerCamera } = options
  let removed = 0
  const repeat = async (step: () => Promise<number>) => {
    for (let count = -1; count !== 0 && !signal.aborted; ) {
      count = await step()
      removed += count
      if (count > 0) await pause(clock, pauseMs, signal)
    }
  }
  if (maxAgeMs !== undefined) {
    const beforeMs = deletionMs() - maxAgeMs
    await repeat(() => events.removeReceivedBefore(beforeMs))
  }
  for (const { cameraId, excess } of await events.listOverfull(maxPerCamera)) {
    let left = excess
    await repeat(async () => {
      const count = left > 0 ? await events.removeLast(cameraId, left) : 0
      left -= count
      return count
    })
  }
  return removed
}

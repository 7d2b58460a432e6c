// The camera's figures of losses, asked for all the time: when did they rise, and when did nobody answer.

import { setTimeout as sleep } from 'node:timers/promises'
import type { HttpReader } from './http-reader.ts'
import type { CountedLoss } from './judge.ts'

export type LossWatch = {
  /** Asks a last time, when all that has happened is counted; of a camera, what was. */
  end(): Promise<ReadonlyMap<number, readonly CountedLoss[]>>
}

type Statistics = { readonly since: string | null; readonly lost_pictures: number }

const intervalMs = 2000
/** A worker brings its figures in every five seconds. */
const bringingMs = 6000

export function watchLosses(http: HttpReader, cameraIds: readonly number[]): LossWatch {
  const counted = new Map<number, CountedLoss[]>(cameraIds.map((id) => [id, []]))
  const ended = new AbortController()
  const watch = async (id: number) => {
    const losses = counted.get(id)!
    let last: Statistics | undefined
    let fromMs = Date.now()
    for (let isLast = false; !isLast; ) {
      isLast = ended.signal.aborted
      const next = await http.getJson<Statistics>(`/v1/cameras/${id}/statistics/`).catch(() => undefined)
      const toMs = Date.now()
      // A server that was started again counts from 0; what the one before had counted since it was last asked is not known.
      if (!next || !last || next.since !== last.since) losses.push({ fromMs, toMs, pictures: undefined })
      else if (next.lost_pictures > last.lost_pictures)
        losses.push({ fromMs, toMs, pictures: next.lost_pictures - last.lost_pictures })
      last = next
      fromMs = toMs
      if (!isLast) await sleep(intervalMs, undefined, { signal: ended.signal }).catch(() => {})
    }
  }
  const running = Promise.all(cameraIds.map(watch))
  return {
    async end() {
      await sleep(bringingMs)
      ended.abort()
      await running
      return counted
    },
  }
}

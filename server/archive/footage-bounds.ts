// The first and the newest footage of a camera with some files only in memory.

import type { Segment } from '../model/segment.ts'
import type { FootageBounds } from '../model/segment-views.ts'

/** `open`: files in memory, in the order of recording. Closed files were recorded before them. */
export function joinBounds(closed: FootageBounds | undefined, open: readonly Segment[]): FootageBounds | undefined {
  const first = open[0]
  const last = open.at(-1)
  if (!first || !last) return closed
  const bounds = {
    startMs: Math.min(closed?.startMs ?? first.startMs, ...open.map(({ startMs }) => startMs)),
    endMs: Math.max(closed?.endMs ?? last.endMs, ...open.map(({ endMs }) => endMs)),
  }
  const { epoch = 0, endMs } = last
  if (epoch === 0) return bounds
  const oldest = closed?.oldest ?? { epoch: closed ? 0 : (first.epoch ?? 0), startMs: (closed ?? first).startMs }
  return { ...bounds, oldest, newest: { epoch, endMs } }
}

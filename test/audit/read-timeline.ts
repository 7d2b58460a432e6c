// What the interface tells of a camera's footage: where there is some, and where and why there is none.

import type { HttpReader } from './http-reader.ts'
import type { TimeRange } from './play-recording.ts'

export type ToldGap = TimeRange & { readonly reason: string }

export type ToldTimeline = { readonly segments: readonly TimeRange[]; readonly gaps: readonly ToldGap[] }

type Answer = {
  readonly segments: readonly { start: string; end: string }[]
  readonly gaps: readonly { start: string; end: string; reason: string }[]
}

/** The longest range the interface answers for. */
const maxRangeMs = 86_400_000

/** At most 24 hours. */
export async function readTimeline(
  http: HttpReader,
  cameraId: number,
  { startMs, endMs }: TimeRange,
): Promise<ToldTimeline> {
  if (endMs - startMs > maxRangeMs) throw new Error('expected a range of at most 24 hours')
  const range = `start=${new Date(startMs).toISOString()}&end=${new Date(endMs).toISOString()}`
  const { segments, gaps } = await http.getJson<Answer>(`/v1/cameras/${cameraId}/recording/timeline/?${range}`)
  const parse = ({ start, end }: { start: string; end: string }) => ({
    startMs: Date.parse(start),
    endMs: Date.parse(end),
  })
  return { segments: segments.map(parse), gaps: gaps.map((gap) => ({ ...parse(gap), reason: gap.reason })) }
}

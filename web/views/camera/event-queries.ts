// Queries for the events of one camera, for the timeline. Only owners see events; guests have none.

import { useQueries } from '@tanstack/react-query'
import type { CameraEvent } from '../../../sdk/index.ts'
import type { CameraKind } from '../../app/camera-queries.ts'
import { useClient } from '../../app/clients.tsx'
import type { View } from '../../model/timeline-view.ts'
import { writeTime } from './footage-queries.ts'

export type TimedEvent = { readonly id: number; readonly atMs: number; readonly event: CameraEvent }

export type EventsInView = {
  readonly events: readonly TimedEvent[]
  /** There are more events than are shown. For a shorter range, all are shown. */
  readonly isCut: boolean
}

const hourMs = 3_600_000
const intervalMs = 10_000
/** The most events read for one chunk of time. Chunks get shorter as the view does. */
const limit = 500

export function useEvents(kind: CameraKind, cameraId: number, view: View): EventsInView {
  const client = useClient()
  const chunkMs = (view.endMs - view.startMs > 6 * hourMs ? 24 : 3) * hourMs
  const first = Math.floor(view.startMs / chunkMs)
  const last = Math.floor((view.endMs - 1) / chunkMs)
  return useQueries({
    queries: Array.from({ length: last - first + 1 }, (_, index) => (first + index) * chunkMs).map((startMs) => ({
      queryKey: ['events', cameraId, 'timeline', startMs, chunkMs],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        client.events.listOfCamera(
          cameraId,
          { start: writeTime(startMs), end: writeTime(startMs + chunkMs), limit },
          { signal },
        ),
      enabled: kind === 'own',
      refetchInterval: startMs + chunkMs < Date.now() ? (false as const) : intervalMs,
    })),
    combine: (results) => ({
      events: results
        .flatMap(({ data }) => data?.results ?? [])
        .map((event): TimedEvent => ({ id: event.id, atMs: Date.parse(event.occurred_at), event })),
      isCut: results.some(({ data }) => data !== undefined && data.next !== null),
    }),
  })
}

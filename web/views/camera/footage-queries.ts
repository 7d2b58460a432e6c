// Queries for the recordings of an owned or shared camera.

import { useQueries, useQuery } from '@tanstack/react-query'
import type { Client, Recording, Timeline } from '../../../sdk/index.ts'
import { type CameraKind, camerasKey } from '../../app/camera-queries.ts'
import { useClient } from '../../app/clients.tsx'

const timelineStepMs = 3 * 3_600_000
const newestIntervalMs = 5_000
const settledMs = 60_000

/** The part of the client for this kind of camera. */
export function recordingsOf(client: Client, kind: CameraKind) {
  return kind === 'own' ? client.cameras : client.sharedCameras
}

export type RecordingState = {
  readonly status: Recording['status']
  /** The error while the status is ERROR. */
  readonly reason: string | undefined
  /** Bounds of the recordings; undefined while there are none. */
  readonly oldestMs: number | undefined
  readonly newestMs: number | undefined
}

const readState = ({ status, status_reason, recording_start, recording_end }: Recording): RecordingState => ({
  status,
  reason: status_reason ?? undefined,
  oldestMs: recording_start === null ? undefined : Date.parse(recording_start),
  newestMs: recording_end === null ? undefined : Date.parse(recording_end),
})

/** State of the recording; nothing if the camera is not recorded or the user may not see its recordings. */
export function useRecording(kind: CameraKind, id: number, hasRecording: boolean) {
  const client = useClient()
  return useQuery({
    queryKey: [...camerasKey, kind, id, 'recording'],
    queryFn: ({ signal }) => recordingsOf(client, kind).getRecording(id, { signal }),
    select: readState,
    enabled: hasRecording,
    refetchInterval: newestIntervalMs,
  })
}

export type Footage = {
  /** The range that was requested, which is wider than the view. */
  readonly startMs: number
  readonly endMs: number
  readonly segments: readonly { readonly startMs: number; readonly endMs: number }[]
  readonly gaps: readonly { readonly startMs: number; readonly endMs: number; readonly reason: string }[]
  readonly isLoading: boolean
  readonly error: unknown
}

/** The timeline between two moments, read in chunks of a few hours, so that panning reads only what is new. */
export function useFootage(
  kind: CameraKind,
  id: number,
  view: { startMs: number; endMs: number },
  isOn: boolean,
): Footage {
  const client = useClient()
  const first = Math.floor(view.startMs / timelineStepMs)
  const last = Math.floor((view.endMs - 1) / timelineStepMs)
  const chunks = Array.from({ length: last - first + 1 }, (_, index) => (first + index) * timelineStepMs)
  return useQueries({
    queries: chunks.map((startMs) => {
      const endMs = startMs + timelineStepMs
      // The distant past changes only when recordings are deleted.
      const isSettled = endMs < Date.now() - settledMs
      return {
        queryKey: [...camerasKey, kind, id, 'timeline', startMs],
        queryFn: ({ signal }: { signal: AbortSignal }) =>
          recordingsOf(client, kind).getTimeline(id, { start: writeTime(startMs), end: writeTime(endMs) }, { signal }),
        enabled: isOn && startMs < Date.now(),
        staleTime: isSettled ? 5 * 60_000 : 2_000,
        refetchInterval: isSettled ? (false as const) : newestIntervalMs,
      }
    }),
    combine: (results) => ({
      startMs: first * timelineStepMs,
      endMs: (last + 1) * timelineStepMs,
      segments: results.flatMap(({ data }) => (data ? readSpans(data.segments) : [])),
      gaps: results.flatMap(({ data }) =>
        data ? data.gaps.map((gap) => ({ ...readSpan(gap), reason: gap.reason })) : [],
      ),
      isLoading: results.some(({ isLoading }) => isLoading),
      error: results.find(({ error, data }) => error !== null && data === undefined)?.error,
    }),
  })
}

export function writeTime(ms: number): string {
  return new Date(ms).toISOString()
}

const readSpan = ({ start, end }: { start: string; end: string }) => ({
  startMs: Date.parse(start),
  endMs: Date.parse(end),
})
const readSpans = (spans: Timeline['segments']) => spans.map(readSpan)

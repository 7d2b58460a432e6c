// The marked range: its length, how much of it was recorded, and its download.

import { useMutation } from '@tanstack/react-query'
import { NightjarError } from '../../../sdk/index.ts'
import type { CameraKind } from '../../app/camera-queries.ts'
import { useClient } from '../../app/clients.tsx'
import { writeFileName } from '../../model/file-name.ts'
import { longestDownloadMs, type Marks, rangeOf, recordedMsIn, writeDuration } from '../../model/marked-range.ts'
import type { Zone } from '../../model/zone.ts'
import { Button } from '../../parts/button.tsx'
import { useClock } from '../../parts/clock.ts'
import { Failure } from '../../parts/failure.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Notice } from '../../parts/notice.tsx'
import { useSizes } from '../../parts/sizes.ts'
import { useTexts } from '../../texts/texts.tsx'
import { findFormatChange, prepareDownload } from './download.ts'
import type { Footage } from './footage-queries.ts'
import { saveFile } from './save-image.ts'

export type RangePanelProps = {
  readonly marks: Marks
  readonly footage: Footage
  readonly zone: Zone
  readonly download: ReturnType<typeof useDownload>
  readonly onPlay: (ms: number) => void
  readonly onClear: () => void
}

/** State held by the page, so that a shortcut can start the download as well. */
export function useDownload(kind: CameraKind, camera: { id: number; name: string }, zone: Zone) {
  const client = useClient()
  return useMutation({
    mutationFn: async (range: { startMs: number; endMs: number }) => {
      const name = writeFileName(camera.name, zone.localTime(range.startMs), 'mp4')
      return { name, ...(await prepareDownload(client, kind, camera.id, range, name)) }
    },
    onSuccess: ({ url, name }) => saveFile(url, name),
  })
}

export function RangePanel({ marks, footage, zone, download, onPlay, onClear }: RangePanelProps) {
  const { range: labels } = useTexts()
  const writeSize = useSizes()
  const clock = useClock(zone)
  const range = rangeOf(marks)
  if (!range) {
    const isStart = marks.startMs !== undefined
    return (
      <section className="range" aria-label={labels.title}>
        <p>{isStart ? labels.onlyStart(clock.time(marks.startMs!)) : labels.onlyEnd(clock.time(marks.endMs ?? 0))}</p>
        <Button look="quiet" onClick={onClear}>
          {labels.clear}
        </Button>
      </section>
    )
  }
  const lengthMs = range.endMs - range.startMs
  const recordedMs = recordedMsIn(range, footage.segments)
  const isTooLong = lengthMs > longestDownloadMs
  // The timeline has loaded only what it shows.
  const isKnown = footage.startMs <= range.startMs && footage.endMs >= range.endMs && !footage.isLoading
  const isEmpty = isKnown && recordedMs === 0
  return (
    <section className="range" aria-label={labels.title}>
      <p>
        <strong>{labels.from(clock.dateTime(range.startMs), clock.time(range.endMs))}</strong>
        <br />
        {labels.length(writeDuration(lengthMs))}
        {isKnown && recordedMs < lengthMs - 2_000 && !isEmpty && ` ${labels.recorded(writeDuration(recordedMs))}`}
      </p>
      <Button isBusy={download.isPending} disabled={isTooLong || isEmpty} onClick={() => download.mutate(range)}>
        <Icon name="download" /> {labels.download}
      </Button>
      <Button look="quiet" onClick={() => onPlay(range.startMs)}>
        {labels.play}
      </Button>
      <Button look="quiet" onClick={onClear}>
        {labels.clear}
      </Button>
      {isTooLong && (
        <Notice kind="bad">
          <p>{labels.tooLong(writeDuration(longestDownloadMs))}</p>
        </Notice>
      )}
      {isEmpty && (
        <Notice kind="bad">
          <p>{labels.nothing}</p>
        </Notice>
      )}
      {download.isPending && (
        <Notice kind="hint">
          <p>{labels.preparing}</p>
        </Notice>
      )}
      {download.data && (
        <Notice kind="good">
          <p>
            {labels.started(
              download.data.name,
              download.data.bytes === undefined ? undefined : writeSize(download.data.bytes),
            )}
          </p>
        </Notice>
      )}
      {download.error && <DownloadFailure error={download.error} clockTime={(ms) => clock.dateTime(ms)} />}
    </section>
  )
}

function DownloadFailure({
  error,
  clockTime,
}: {
  readonly error: unknown
  readonly clockTime: (ms: number) => string
}) {
  const { range: labels } = useTexts()
  const changedMs = findFormatChange(error)
  const isNothing = error instanceof NightjarError && error.status === 404
  if (changedMs === undefined && !isNothing) return <Failure error={error} />
  return (
    <Notice kind="bad">
      <p>{changedMs === undefined ? labels.nothing : labels.formatChanged(clockTime(changedMs))}</p>
    </Notice>
  )
}

// The recordings of a camera: timeline, controls and marked range, or why there are none.

import { useState } from 'react'
import type { AnyCamera } from '../../app/camera-queries.ts'
import type { Marks } from '../../model/marked-range.ts'
import { viewOfDay } from '../../model/timeline-view.ts'
import type { Zone } from '../../model/zone.ts'
import { Button } from '../../parts/button.tsx'
import { useClock } from '../../parts/clock.ts'
import { Failure } from '../../parts/failure.tsx'
import { IconButton } from '../../parts/icon-button.tsx'
import { Thumbnail } from '../../parts/thumbnail.tsx'
import { useTexts } from '../../texts/texts.tsx'
import type { EventsInView } from './event-queries.ts'
import type { Footage, RecordingState } from './footage-queries.ts'
import { MomentList } from './moment-list.tsx'
import { RangePanel, type useDownload } from './range-panel.tsx'
import { RecordingProblem } from './recording-problem.tsx'
import { Timeline } from './timeline.tsx'
import type { Commands } from './use-keys.ts'
import type { Playback } from './use-playback.ts'

export type RecordingsProps = {
  readonly of: AnyCamera
  readonly playback: Playback
  readonly commands: Commands
  readonly zone: Zone
  readonly nowMs: number
  readonly recording: RecordingState | undefined
  readonly footage: Footage
  readonly events: EventsInView
  readonly marks: Marks
  readonly onMarks: (marks: Marks) => void
  readonly download: ReturnType<typeof useDownload>
}

export function Recordings(props: RecordingsProps) {
  const { of, playback, commands, zone, nowMs, recording, footage, events, marks, onMarks, download } = props
  const { kind, camera } = of
  const { camera: texts } = useTexts()
  const clock = useClock(zone)
  const [isMarking, setMarking] = useState(false)
  const { view, setView, play, cursorMs } = playback
  const middleMs = (view.startMs + view.endMs) / 2
  const day = viewOfDay(middleMs, zone)
  const isMarked = marks.startMs !== undefined || marks.endMs !== undefined
  const isEmpty =
    !footage.isLoading &&
    footage.error === undefined &&
    !footage.segments.some(({ startMs, endMs }) => endMs > view.startMs && startMs < view.endMs)
  return (
    <section aria-label={texts.recordings} className="recordings">
      <div className="controls recordings-head">
        <IconButton icon="before" label={texts.dayBefore} onClick={() => setView(viewOfDay(day.startMs - 1, zone))} />
        <h2>{clock.dayOfYear(middleMs)}</h2>
        <IconButton
          icon="after"
          label={texts.dayAfter}
          disabled={day.endMs > nowMs}
          onClick={() => setView(viewOfDay(day.endMs, zone))}
        />
        <div className="controls-more">
          <IconButton icon="calendar" label={texts.jump} shortcut="G" labels="always" onClick={commands.jump} />
          <IconButton icon="zoomIn" label={texts.zoomIn} shortcut="+" onClick={commands.zoomIn} />
          <IconButton icon="zoomOut" label={texts.zoomOut} shortcut="−" onClick={commands.zoomOut} />
          <IconButton icon="clock" label={texts.wholeDay} shortcut="D" onClick={commands.wholeDay} />
        </div>
      </div>
      <Timeline
        view={view}
        onView={setView}
        zone={zone}
        footage={footage}
        events={events.events}
        nowMs={nowMs}
        cursorMs={cursorMs}
        onPick={play}
        marks={marks}
        onMarks={onMarks}
        isMarking={isMarking}
        preview={(ms) => <Thumbnail kind={kind} cameraId={camera.id} atMs={ms} width={160} />}
      />
      {footage.error !== undefined && <Failure error={footage.error} />}
      {isEmpty && view.startMs < nowMs && (
        <div className="recordings-none">
          <p>{texts.emptyView}</p>
          {recording?.newestMs !== undefined && (
            <Button look="quiet" onClick={() => play(recording.newestMs! - 30_000)}>
              {texts.playNewest(clock.dateTime(recording.newestMs))}
            </Button>
          )}
        </div>
      )}
      <div className="controls">
        <IconButton
          icon="markStart"
          label={texts.markStart}
          shortcut="I"
          labels="always"
          onClick={commands.markStart}
        />
        <IconButton icon="markEnd" label={texts.markEnd} shortcut="O" labels="always" onClick={commands.markEnd} />
        <IconButton
          icon="range"
          label={texts.markByDragging}
          labels="always"
          aria-pressed={isMarking}
          onClick={() => setMarking(!isMarking)}
        />
        <p className="hint">{texts.zone(zone.name)}</p>
      </div>
      {isMarked && (
        <RangePanel
          marks={marks}
          footage={footage}
          zone={zone}
          download={download}
          onPlay={play}
          onClear={commands.unmark}
        />
      )}
      <RecordingProblem recording={recording} footage={footage} nowMs={nowMs} />
      <MomentList view={view} zone={zone} footage={footage} events={events} onPlay={play} />
    </section>
  )
}

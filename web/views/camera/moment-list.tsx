// The content of the timeline as a table: gaps with their reasons, and events, newest first.

import { writeDuration } from '../../model/marked-range.ts'
import type { View } from '../../model/timeline-view.ts'
import type { Zone } from '../../model/zone.ts'
import { useClock } from '../../parts/clock.ts'
import { nameEvent } from '../../parts/event-names.ts'
import { IconButton } from '../../parts/icon-button.tsx'
import { useTexts } from '../../texts/texts.tsx'
import type { EventsInView } from './event-queries.ts'
import type { Footage } from './footage-queries.ts'

export type MomentListProps = {
  readonly view: View
  readonly zone: Zone
  readonly footage: Footage
  readonly events: EventsInView
  readonly onPlay: (ms: number) => void
}

/** More than anybody reads; the timeline can be zoomed. */
const mostRows = 200
const beforeGapMs = 10_000

export function MomentList({ view, zone, footage, events, onPlay }: MomentListProps) {
  const { timeline: texts, events: eventTexts } = useTexts()
  const clock = useClock(zone)
  const gaps = footage.gaps
    .filter(({ startMs, endMs }) => endMs > view.startMs && startMs < view.endMs)
    .map(({ startMs, endMs, reason }) => ({
      key: `gap ${startMs} ${reason}`,
      atMs: startMs,
      // Start a little earlier, to show what led up to it.
      playMs: startMs - beforeGapMs,
      labels: `${texts.gap(texts.reasons[reason] ?? texts.reasons.unknown!)} (${writeDuration(endMs - startMs)})`,
    }))
  const happened = events.events
    .filter(({ atMs }) => atMs >= view.startMs && atMs < view.endMs)
    .map(({ id, atMs, event }) => ({
      key: `event ${id}`,
      atMs,
      playMs: atMs,
      labels: `${nameEvent(event, eventTexts)} · ${eventTexts.sources[event.source] ?? event.source}`,
    }))
  const rows = [...gaps, ...happened].sort((a, b) => b.atMs - a.atMs)
  const shown = rows.slice(0, mostRows)
  return (
    <details className="moments">
      <summary>{texts.list(gaps.length, happened.length)}</summary>
      {rows.length === 0 ? (
        <p className="hint">{texts.listEmpty}</p>
      ) : (
        <div className="moments-table">
          <table>
            <caption>{texts.listCaption(clock.dateTime(view.startMs), clock.dateTime(view.endMs))}</caption>
            <thead>
              <tr>
                <th scope="col">{texts.time}</th>
                <th scope="col">{texts.what}</th>
                <th scope="col">{texts.play}</th>
              </tr>
            </thead>
            <tbody>
              {shown.map(({ key, atMs, playMs, labels }) => (
                <tr key={key}>
                  <td>{clock.time(atMs)}</td>
                  <td>{labels}</td>
                  <td>
                    <IconButton icon="play" label={texts.playFrom(clock.time(playMs))} onClick={() => onPlay(playMs)} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {(events.isCut || rows.length > shown.length) && <p className="hint">{texts.listCut}</p>}
    </details>
  )
}

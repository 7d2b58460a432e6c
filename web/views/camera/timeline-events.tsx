// Event markers below the timeline. Hover or focus shows what happened; a click plays it. They are a single tab stop;
// arrow keys move between markers.

import { type KeyboardEvent, type ReactNode, useRef, useState } from 'react'
import { placeMarks } from '../../model/event-marks.ts'
import type { View } from '../../model/timeline-view.ts'
import type { Zone } from '../../model/zone.ts'
import { useClock } from '../../parts/clock.ts'
import { nameEvent } from '../../parts/event-names.ts'
import { useTexts } from '../../texts/texts.tsx'
import type { TimedEvent } from './event-queries.ts'

export type TimelineEventsProps = {
  readonly events: readonly TimedEvent[]
  readonly view: View
  readonly width: number
  readonly zone: Zone
  readonly onPick: (ms: number) => void
  readonly preview: (ms: number) => ReactNode
}

const room = 26
const labelWidth = 232
/** Further events are counted. */
const maxCaptions = 4

export function TimelineEvents({ events, view, width, zone, onPick, preview }: TimelineEventsProps) {
  const { timeline: texts, events: eventTexts } = useTexts()
  const clock = useClock(zone)
  const row = useRef<HTMLDivElement>(null)
  const [openAt, setOpenAt] = useState<number>()
  const [current, setCurrent] = useState(0)
  const marks = placeMarks(events, view, { width, room })
  const stop = Math.min(current, marks.length - 1)
  const open = openAt === undefined ? undefined : marks[openAt]
  if (marks.length === 0) return null
  const onKeyDown = (event: KeyboardEvent) => {
    const to = { ArrowLeft: stop - 1, ArrowRight: stop + 1, Home: 0, End: marks.length - 1 }[event.key]
    if (event.key === 'Escape') setOpenAt(undefined)
    else if (to !== undefined) row.current?.querySelectorAll('button')[to]?.focus()
    else return
    event.preventDefault()
  }
  return (
    <div
      ref={row}
      className="timeline-events"
      role="toolbar"
      aria-label={texts.events}
      onKeyDown={onKeyDown}
      onPointerLeave={() => setOpenAt(undefined)}
    >
      {marks.map(({ place, items }, index) => (
        <button
          key={items[0]!.id}
          type="button"
          className="event-mark"
          tabIndex={index === stop ? 0 : -1}
          style={{ left: Math.max(room / 2, Math.min(width - room / 2, place)) }}
          // The visible label is part of the accessible name (WCAG 2.5.3).
          aria-label={[
            writeCount(items.length),
            items.map(({ atMs, event }) => `${clock.time(atMs)} ${nameEvent(event, eventTexts)}`).join(', '),
          ]
            .filter(Boolean)
            .join(': ')}
          onClick={() => onPick(items[0]!.atMs)}
          onPointerEnter={() => setOpenAt(index)}
          onFocus={() => {
            setCurrent(index)
            setOpenAt(index)
          }}
          onBlur={() => setOpenAt(undefined)}
        >
          <span>{writeCount(items.length)}</span>
        </button>
      ))}
      {open && (
        <div
          className="event-caption"
          style={{ left: Math.max(8, Math.min(width - labelWidth - 8, open.place - labelWidth / 2)) }}
          aria-hidden="true"
        >
          {preview(open.items[0]!.atMs)}
          {open.items.slice(0, maxCaptions).map(({ id, atMs, event }) => (
            <p key={id}>
              <span className="hint">{clock.time(atMs)}</span> {nameEvent(event, eventTexts)}
            </p>
          ))}
          {open.items.length > maxCaptions && (
            <p className="hint">{texts.moreEvents(open.items.length - maxCaptions)}</p>
          )}
        </div>
      )}
    </div>
  )
}

/** Returns nothing for a single event. */
function writeCount(count: number): string {
  if (count > 99) return '99+'
  return count > 1 ? String(count) : ''
}

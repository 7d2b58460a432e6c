// The timeline below the player: footage, gaps with their reasons, events and the playhead. A click or drag plays from
// there; the wheel, two fingers or buttons zoom. For keyboards and screen readers it is a slider over time.

import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import type { Marks } from '../../model/marked-range.ts'
import { momentAt, placeOf, type View, zoom } from '../../model/timeline-view.ts'
import type { Zone } from '../../model/zone.ts'
import { useClock } from '../../parts/clock.ts'
import { useTexts } from '../../texts/texts.tsx'
import type { TimedEvent } from './event-queries.ts'
import type { Footage } from './footage-queries.ts'
import { TimelineDrawing } from './timeline-drawing.tsx'
import { TimelineEvents } from './timeline-events.tsx'
import { useGestures } from './timeline-gestures.ts'
import './timeline.css'

export type TimelineProps = {
  readonly view: View
  readonly onView: (view: View) => void
  readonly zone: Zone
  readonly footage: Footage
  readonly events: readonly TimedEvent[]
  readonly nowMs: number
  /** The displayed moment; the current time when live. */
  readonly cursorMs: number
  readonly onPick: (ms: number) => void
  readonly marks: Marks
  readonly onMarks: (marks: Marks) => void
  /** Dragging marks a range. */
  readonly isMarking: boolean
  /** Returns the thumbnail that is shown at the pointer. */
  readonly preview: (ms: number) => ReactNode
}

const keyStepMs = 10_000
const bigKeyStepMs = 60_000
const previewWidth = 168

export function Timeline(props: TimelineProps) {
  const { view, onView, zone, footage, events, nowMs, cursorMs, onPick, marks, preview } = props
  const { timeline: texts } = useTexts()
  const clock = useClock(zone)
  const frame = useRef<HTMLDivElement>(null)
  const width = useWidth(frame)
  const { handlers, hoverX, scrubMs } = useGestures({ ...props, frame, width })
  const shownMs = scrubMs ?? cursorMs
  const pointedMs = hoverX === undefined ? undefined : momentAt(hoverX, view, width)
  const hoveredMs = scrubMs ?? (pointedMs !== undefined && pointedMs <= nowMs ? pointedMs : undefined)
  const hoveredX = hoveredMs === undefined ? undefined : placeOf(hoveredMs, view, width)
  /** Rounded, so that moving the pointer does not request a thumbnail per pixel. */
  const stepMs = Math.max(1000, (8 / Math.max(1, width)) * (view.endMs - view.startMs))
  const gap = hoveredMs === undefined ? undefined : footage.gaps.find((each) => holds(each, hoveredMs))
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return
    const step = event.shiftKey ? bigKeyStepMs : keyStepMs
    const picks: Partial<Record<string, number>> = {
      ArrowLeft: cursorMs - step,
      ArrowDown: cursorMs - step,
      ArrowRight: cursorMs + step,
      ArrowUp: cursorMs + step,
      PageUp: cursorMs - 10 * bigKeyStepMs,
      PageDown: cursorMs + 10 * bigKeyStepMs,
      Home: view.startMs,
      End: Math.min(nowMs, view.endMs),
    }
    const picked = picks[event.key]
    if (picked !== undefined) onPick(Math.min(nowMs, picked))
    else if (event.key === '+' || event.key === '-') onView(zoom(view, event.key === '+' ? 0.5 : 2, cursorMs))
    else return
    event.preventDefault()
  }
  return (
    <div className="timeline">
      {hoveredMs !== undefined && hoveredX !== undefined && (
        <div
          className="timeline-preview"
          style={{ left: Math.max(8, Math.min(width - previewWidth - 8, hoveredX - previewWidth / 2)) }}
          aria-hidden="true"
        >
          {!gap && preview(Math.floor(hoveredMs / stepMs) * stepMs)}
          <span>{clock.time(hoveredMs)}</span>
          {gap && <span>{texts.gap(texts.reasons[gap.reason] ?? texts.reasons.unknown!)}</span>}
        </div>
      )}
      <div
        ref={frame}
        className={props.isMarking ? 'timeline-track timeline-marking' : 'timeline-track'}
        role="slider"
        tabIndex={0}
        aria-label={texts.label}
        aria-valuemin={Math.round(view.startMs / 1000)}
        aria-valuemax={Math.round(Math.min(Math.max(nowMs, cursorMs), view.endMs) / 1000)}
        aria-valuenow={Math.round(cursorMs / 1000)}
        aria-valuetext={clock.dateTime(cursorMs)}
        onKeyDown={onKeyDown}
        {...handlers}
      >
        {width > 0 && (
          <TimelineDrawing
            view={view}
            width={width}
            zone={zone}
            footage={footage}
            nowMs={nowMs}
            cursorMs={shownMs}
            marks={marks}
            hoverX={hoveredX}
          />
        )}
      </div>
      {width > 0 && (
        <TimelineEvents events={events} view={view} width={width} zone={zone} onPick={onPick} preview={preview} />
      )}
    </div>
  )
}

const holds = ({ startMs, endMs }: View, ms: number) => ms >= startMs && ms < endMs

function useWidth(element: { readonly current: Element | null }): number {
  const [width, setWidth] = useState(0)
  useEffect(() => {
    if (!element.current) return
    const observer = new ResizeObserver(([entry]) => setWidth(entry?.contentRect.width ?? 0))
    observer.observe(element.current)
    return () => observer.disconnect()
  }, [element])
  return width
}

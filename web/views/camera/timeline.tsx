// The timeline under the picture: when there is footage, why there is none, where it plays. Clicked or dragged to play from
// there, zoomed by the wheel or the buttons; for the keyboard and for those who hear it a slider over time.

import { type KeyboardEvent, type PointerEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { listTicks, momentAt, move, placeOf, type View, zoom } from '../../model/timeline-view.ts'
import type { Zone } from '../../model/zone.ts'
import { type Clock, useClock } from '../../parts/clock.ts'
import { useTexts } from '../../texts/texts.tsx'
import type { Footage } from './footage-queries.ts'

export type TimelineProps = {
  readonly view: View
  readonly onView: (view: View) => void
  readonly zone: Zone
  readonly footage: Footage
  readonly nowMs: number
  /** The moment that is shown; now when live. */
  readonly cursorMs: number
  readonly onPick: (ms: number) => void
  /** What was to be seen at a moment, shown while the pointer is there. */
  readonly preview?: (ms: number) => ReactNode
}

const height = 72
const barTop = 30
const barHeight = 22
const wheelZoom = 1.25
const keyStepMs = 10_000
const bigKeyStepMs = 60_000
/** A pointer moved no further than this was clicking. */
const dragFrom = 4

export function Timeline({ view, onView, zone, footage, nowMs, cursorMs, onPick, preview }: TimelineProps) {
  const { timeline: texts } = useTexts()
  const clock = useClock(zone)
  const frame = useRef<HTMLDivElement>(null)
  const width = useWidth(frame)
  const drag = useRef<{ x: number; view: View; hasMoved: boolean }>(undefined)
  const [hoverX, setHoverX] = useState<number>()
  const place = (ms: number) => placeOf(ms, view, width)
  /** In steps, so that moving the pointer does not ask for a picture of every pixel. */
  const stepMs = Math.max(1000, (8 / Math.max(1, width)) * (view.endMs - view.startMs))
  const pointedMs = hoverX === undefined || drag.current?.hasMoved ? undefined : momentAt(hoverX, view, width)
  const hoveredMs = pointedMs === undefined || pointedMs > nowMs ? undefined : Math.floor(pointedMs / stepMs) * stepMs
  const latest = useRef({ view, width, onView })
  latest.current = { view, width, onView }
  useEffect(() => {
    const element = frame.current
    const turn = (event: WheelEvent) => {
      event.preventDefault()
      const { view, width, onView } = latest.current
      const box = element!.getBoundingClientRect()
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        onView(move(view, (event.deltaX / width) * (view.endMs - view.startMs)))
      } else
        onView(
          zoom(view, event.deltaY > 0 ? wheelZoom : 1 / wheelZoom, momentAt(event.clientX - box.left, view, width)),
        )
    }
    // Only a listener of one's own may keep the page from scrolling.
    element?.addEventListener('wheel', turn, { passive: false })
    return () => element?.removeEventListener('wheel', turn)
  }, [])
  const xOf = (event: PointerEvent) => event.clientX - frame.current!.getBoundingClientRect().left
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.shiftKey ? bigKeyStepMs : keyStepMs
    const picks: Partial<Record<string, number>> = {
      ArrowLeft: cursorMs - step,
      ArrowRight: cursorMs + step,
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
    event.stopPropagation()
  }
  return (
    <div
      ref={frame}
      className="timeline"
      role="slider"
      tabIndex={0}
      aria-label={texts.label}
      aria-valuemin={Math.round(view.startMs / 1000)}
      aria-valuemax={Math.round(Math.min(nowMs, view.endMs) / 1000)}
      aria-valuenow={Math.round(cursorMs / 1000)}
      aria-valuetext={clock.dateTime(cursorMs)}
      onKeyDown={onKeyDown}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId)
        drag.current = { x: xOf(event), view, hasMoved: false }
      }}
      onPointerMove={(event) => {
        const x = xOf(event)
        setHoverX(x)
        const from = drag.current
        if (!from) return
        if (Math.abs(x - from.x) > dragFrom) from.hasMoved = true
        if (from.hasMoved) onView(move(from.view, ((from.x - x) / width) * (view.endMs - view.startMs)))
      }}
      onPointerUp={(event) => {
        const from = drag.current
        drag.current = undefined
        if (from && !from.hasMoved) onPick(Math.min(nowMs, momentAt(xOf(event), view, width)))
      }}
      onPointerCancel={() => {
        drag.current = undefined
      }}
      onPointerLeave={() => setHoverX(undefined)}
    >
      {hoveredMs !== undefined && preview && (
        <div className="timeline-preview" style={{ left: Math.min(width - 168, Math.max(8, hoverX! - 80)) }}>
          {preview(hoveredMs)}
        </div>
      )}
      {width > 0 && (
        <svg width={width} height={height} aria-hidden="true" focusable="false">
          <rect className="timeline-room" x={0} y={barTop} width={width} height={barHeight} />
          {footage.gaps.map((gap) => (
            <rect key={`gap ${gap.startMs}`} className={`timeline-gap`} {...bar(place(gap.startMs), place(gap.endMs))}>
              <title>{texts.gap(texts.reasons[gap.reason] ?? texts.reasons.unknown!)}</title>
            </rect>
          ))}
          {footage.segments.map(({ startMs, endMs }) => (
            <rect key={`footage ${startMs}`} className="timeline-footage" {...bar(place(startMs), place(endMs))} />
          ))}
          <rect
            className="timeline-future"
            x={Math.max(0, place(nowMs))}
            y={0}
            width={Math.max(0, width - place(nowMs))}
            height={height}
          />
          {listTicks(view, width, zone).map(({ ms, label }) => (
            <g key={ms} transform={`translate(${place(ms)} 0)`}>
              <line
                className={label === 'none' ? 'timeline-tick' : 'timeline-mark'}
                y1={label === 'none' ? 24 : 20}
                y2={barTop}
              />
              {label !== 'none' && (
                <text className="timeline-label" y={14} textAnchor={anchorAt(place(ms), width)}>
                  {readTick(clock, ms, label)}
                </text>
              )}
            </g>
          ))}
          {hoverX !== undefined && !drag.current?.hasMoved && (
            <g transform={`translate(${hoverX} 0)`}>
              <line className="timeline-hover" y1={barTop - 4} y2={barTop + barHeight + 4} />
              <text className="timeline-label" y={height - 4} textAnchor={anchorAt(hoverX, width)}>
                {clock.time(momentAt(hoverX, view, width))}
              </text>
            </g>
          )}
          <line
            className="timeline-cursor"
            x1={place(cursorMs)}
            x2={place(cursorMs)}
            y1={barTop - 8}
            y2={barTop + barHeight + 8}
          />
        </svg>
      )}
    </div>
  )
}

/** Never too thin to be seen. */
function bar(from: number, to: number) {
  return { x: from, y: barTop, width: Math.max(1, to - from), height: barHeight }
}

function readTick(clock: Clock, ms: number, label: 'day' | 'time' | 'seconds'): string {
  if (label === 'day') return clock.day(ms)
  return label === 'time' ? clock.minutes(ms) : clock.time(ms)
}

function anchorAt(x: number, width: number): 'start' | 'middle' | 'end' {
  return x < 40 ? 'start' : x > width - 40 ? 'end' : 'middle'
}

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

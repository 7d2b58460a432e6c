// Draws the timeline as SVG: ticks, footage, gaps, marked range, the future and the playhead.

import { useId } from 'react'
import { type Marks, rangeOf } from '../../model/marked-range.ts'
import { fitLabels, listTicks, placeOf, type View } from '../../model/timeline-view.ts'
import type { Zone } from '../../model/zone.ts'
import { type Clock, useClock } from '../../parts/clock.ts'
import type { Footage } from './footage-queries.ts'

export type TimelineDrawingProps = {
  readonly view: View
  readonly width: number
  readonly zone: Zone
  readonly footage: Footage
  readonly nowMs: number
  readonly cursorMs: number
  readonly marks: Marks
  readonly hoverX: number | undefined
}

const height = 64
const barTop = 30
const barHeight = 26

export function TimelineDrawing(props: TimelineDrawingProps) {
  const { view, width, zone, footage, nowMs, cursorMs, marks, hoverX } = props
  const clock = useClock(zone)
  const hatching = useId()
  const place = (ms: number) => placeOf(ms, view, width)
  const range = rangeOf(marks)
  const ticks = listTicks(view, width, zone)
  const labels = fitLabels(
    ticks.flatMap(({ ms, label }) =>
      label === 'none' ? [] : [{ place: place(ms), text: readTick(clock, ms, label), isDay: label === 'day' }],
    ),
    width,
  )
  return (
    <svg width={width} height={height} aria-hidden="true" focusable="false">
      <pattern id={hatching} width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <rect width="6" height="6" className="timeline-gap" />
        <line x1="0" x2="0" y1="0" y2="6" className="timeline-hatch" />
      </pattern>
      <rect className="timeline-room" x={0} y={barTop} width={width} height={barHeight} />
      {footage.gaps.map((gap) => (
        <rect
          key={`${gap.startMs} ${gap.reason}`}
          fill={`url(#${hatching})`}
          {...bar(place(gap.startMs), place(gap.endMs))}
        />
      ))}
      {footage.segments.map(({ startMs, endMs }) => (
        <rect key={startMs} className="timeline-footage" {...bar(place(startMs), place(endMs))} />
      ))}
      <rect
        className="timeline-future"
        x={Math.max(0, place(nowMs))}
        y={0}
        width={Math.max(0, width - Math.max(0, place(nowMs)))}
        height={height}
      />
      {ticks.map(({ ms, label }) => (
        <line
          key={ms}
          className={label === 'none' ? 'timeline-tick' : 'timeline-mark'}
          x1={place(ms)}
          x2={place(ms)}
          y1={label === 'none' ? 25 : 20}
          y2={barTop}
        />
      ))}
      {labels.map((label) => (
        <text key={label.place} className="timeline-label" x={label.place} y={14} textAnchor={label.anchor}>
          {label.text}
        </text>
      ))}
      {range && (
        <rect
          className="timeline-range"
          x={place(range.startMs)}
          y={barTop - 3}
          width={Math.max(2, place(range.endMs) - place(range.startMs))}
          height={barHeight + 6}
        />
      )}
      {marks.startMs !== undefined && <Handle x={place(marks.startMs)} side={-1} />}
      {marks.endMs !== undefined && <Handle x={place(marks.endMs)} side={1} />}
      {hoverX !== undefined && (
        <line className="timeline-hover" x1={hoverX} x2={hoverX} y1={barTop - 4} y2={barTop + barHeight + 4} />
      )}
      <line
        className="timeline-cursor"
        x1={place(cursorMs)}
        x2={place(cursorMs)}
        y1={barTop - 8}
        y2={barTop + barHeight + 6}
      />
      <path className="timeline-cursor-head" d={`M${place(cursorMs) - 6} ${barTop - 10}h12l-6 7Z`} />
    </svg>
  )
}

/** An end of the marked range, drawn as a bracket so that it does not depend on color. */
function Handle({ x, side }: { readonly x: number; readonly side: 1 | -1 }) {
  const top = barTop - 5
  const bottom = barTop + barHeight + 5
  return <path className="timeline-handle" d={`M${x - side * 6} ${top}H${x}V${bottom}H${x - side * 6}`} />
}

/** Wide enough to be visible. */
function bar(from: number, to: number) {
  return { x: from, y: barTop, width: Math.max(1, to - from), height: barHeight }
}

function readTick(clock: Clock, ms: number, label: 'day' | 'time' | 'seconds'): string {
  if (label === 'day') return clock.day(ms)
  return label === 'time' ? clock.minutes(ms) : clock.time(ms)
}

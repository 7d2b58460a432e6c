// Pointer and wheel input on the timeline: a click plays, a drag moves what was grabbed, two fingers zoom.

import { type PointerEvent, type RefObject, useEffect, useRef, useState } from 'react'
import { type Marks, markBetween, markEnd, markStart } from '../../model/marked-range.ts'
import { findGrip, type Grip } from '../../model/timeline-grip.ts'
import { momentAt, move, placeOf, type View, zoom } from '../../model/timeline-view.ts'

export type GestureOptions = {
  readonly frame: RefObject<HTMLElement | null>
  readonly width: number
  readonly view: View
  readonly nowMs: number
  readonly cursorMs: number
  readonly marks: Marks
  readonly isMarking: boolean
  readonly onView: (view: View) => void
  readonly onPick: (ms: number) => void
  readonly onMarks: (marks: Marks) => void
}

/** `view` and `marks` as they were when the pointer went down. */
type Drag = { readonly grip: Grip; readonly x: number; readonly view: View; readonly marks: Marks; hasMoved: boolean }

const wheelZoom = 1.25
/** Less movement than this is a click. */
const dragFrom = 4
const reaches = { mouse: 8, finger: 22 }

export function useGestures(options: GestureOptions) {
  const { frame, width, view, nowMs, cursorMs, marks, isMarking, onView, onPick, onMarks } = options
  const drag = useRef<Drag>(undefined)
  /** Positions of the active pointers; two of them zoom. */
  const pointers = useRef(new Map<number, number>())
  const [hoverX, setHoverX] = useState<number>()
  const [scrubMs, setScrubMs] = useState<number>()
  useWheel(options)
  const xOf = (event: PointerEvent) => event.clientX - frame.current!.getBoundingClientRect().left
  const momentOf = (x: number, of = view) => Math.min(nowMs, momentAt(x, of, width))
  const begin = (event: PointerEvent) => {
    if (event.button !== 0) return
    const x = xOf(event)
    event.currentTarget.setPointerCapture(event.pointerId)
    pointers.current.set(event.pointerId, x)
    if (pointers.current.size > 1) {
      drag.current = undefined
      setScrubMs(undefined)
      return
    }
    const place = (ms: number | undefined) => (ms === undefined ? undefined : placeOf(ms, view, width))
    const places = { cursor: placeOf(cursorMs, view, width), start: place(marks.startMs), end: place(marks.endMs) }
    const reach = event.pointerType === 'mouse' ? reaches.mouse : reaches.finger
    const grip = findGrip(x, places, { reach, isMarking: isMarking || event.shiftKey })
    drag.current = { grip, x, view, marks, hasMoved: false }
  }
  const pinch = (event: PointerEvent, x: number) => {
    const before = [...pointers.current.values()]
    pointers.current.set(event.pointerId, x)
    const after = [...pointers.current.values()]
    const apart = ([a = 0, b = 0]: number[]) => Math.max(10, Math.abs(a - b))
    const middle = ([a = 0, b = 0]: number[]) => (a + b) / 2
    const zoomed = zoom(view, apart(before) / apart(after), momentAt(middle(before), view, width))
    onView(move(zoomed, ((middle(before) - middle(after)) / width) * (zoomed.endMs - zoomed.startMs)))
  }
  const go = (event: PointerEvent) => {
    const x = xOf(event)
    if (pointers.current.size > 1 && pointers.current.has(event.pointerId)) return pinch(event, x)
    const from = drag.current
    setHoverX(from?.hasMoved ? undefined : x)
    if (!from) return
    if (Math.abs(x - from.x) > dragFrom) from.hasMoved = true
    if (!from.hasMoved) return
    if (from.grip === 'room') onView(move(from.view, ((from.x - x) / width) * (from.view.endMs - from.view.startMs)))
    else if (from.grip === 'cursor') setScrubMs(momentOf(x))
    else if (from.grip === 'start') onMarks(markStart(from.marks, momentOf(x)))
    else if (from.grip === 'end') onMarks(markEnd(from.marks, momentOf(x)))
    else onMarks(markBetween(momentOf(from.x), momentOf(x)))
  }
  const end = (event: PointerEvent) => {
    const wasPinching = pointers.current.size > 1
    pointers.current.delete(event.pointerId)
    const from = drag.current
    drag.current = undefined
    setScrubMs(undefined)
    if (event.pointerType !== 'mouse') setHoverX(undefined)
    if (!from || wasPinching) return
    if (!from.hasMoved || from.grip === 'cursor') onPick(momentOf(xOf(event)))
  }
  const cancel = (event: PointerEvent) => {
    pointers.current.delete(event.pointerId)
    drag.current = undefined
    setScrubMs(undefined)
    setHoverX(undefined)
  }
  return {
    /** Position of the pointer while nothing is dragged. */
    hoverX,
    /** Moment that the playhead is being dragged to. */
    scrubMs,
    handlers: {
      onPointerDown: begin,
      onPointerMove: go,
      onPointerUp: end,
      onPointerCancel: cancel,
      onPointerLeave: () => setHoverX(undefined),
    },
  }
}

function useWheel(options: GestureOptions): void {
  const latest = useRef(options)
  latest.current = options
  const { frame } = options
  useEffect(() => {
    const element = frame.current
    const turn = (event: WheelEvent) => {
      const { view, width, onView } = latest.current
      event.preventDefault()
      const x = event.clientX - element!.getBoundingClientRect().left
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        onView(move(view, (event.deltaX / width) * (view.endMs - view.startMs)))
      } else onView(zoom(view, event.deltaY > 0 ? wheelZoom : 1 / wheelZoom, momentAt(x, view, width)))
    }
    // React registers passive wheel listeners, which cannot prevent the page from scrolling.
    element?.addEventListener('wheel', turn, { passive: false })
    return () => element?.removeEventListener('wheel', turn)
  }, [frame])
}

// Places event markers on the timeline. Events that are too close together to point at share a marker.

import { placeOf, type View } from './timeline-view.ts'

export type Mark<Item> = {
  /** Distance of the first event from the left edge, in pixels. */
  readonly place: number
  /** In chronological order; at least one. */
  readonly items: readonly Item[]
}

/**
 * Returns markers from left to right, at least `room` pixels apart. `items` may be in any order; those out of view are
 * left out.
 */
export function placeMarks<Item extends { readonly atMs: number }>(
  items: readonly Item[],
  view: View,
  { width, room }: { readonly width: number; readonly room: number },
): Mark<Item>[] {
  const marks: { place: number; items: Item[] }[] = []
  const shown = items.filter(({ atMs }) => atMs >= view.startMs && atMs < view.endMs)
  for (const item of shown.toSorted((a, b) => a.atMs - b.atMs)) {
    const place = placeOf(item.atMs, view, width)
    const last = marks.at(-1)
    if (last && place - last.place < room) last.items.push(item)
    else marks.push({ place, items: [item] })
  }
  return marks
}

/** Positions are precise to a second. Without this tolerance, "next event" would find the current event again. */
const exactnessMs = 1_000

/** Returns the nearest event after or before a moment. */
export function findNextEvent<Item extends { readonly atMs: number }>(
  items: readonly Item[],
  fromMs: number,
  direction: 'after' | 'before',
): Item | undefined {
  const isNearer = direction === 'after' ? (a: Item, b: Item) => a.atMs < b.atMs : (a: Item, b: Item) => a.atMs > b.atMs
  const isThere = ({ atMs }: Item) =>
    direction === 'after' ? atMs > fromMs + exactnessMs : atMs < fromMs - exactnessMs
  return items
    .filter(isThere)
    .reduce<Item | undefined>((best, item) => (best && !isNearer(item, best) ? best : item), undefined)
}

// Where marks of events stand on the timeline: those too near to each other to be pointed at share one.

import { placeOf, type View } from './timeline-view.ts'

export type Mark<Item> = {
  /** Pixels from the left edge: of the first of its events. */
  readonly place: number
  /** In the order of time; at least one. */
  readonly items: readonly Item[]
}

/** Left to right, each at least `room` pixels after the one before. `items` in any order; those out of sight are left out. */
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

/** A second is the exactness of what is shown; without it, going on from an event would find the same one again. */
const exactnessMs = 1_000

/** The nearest event after or before a moment. */
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

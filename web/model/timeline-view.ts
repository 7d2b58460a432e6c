// The time span that the timeline shows: maps moments to positions and back, zooms, pans, and places the ticks of the
// clock. Positions are pixels from the left edge; moments are Unix milliseconds.

import { momentOf, startOfDay, type Zone } from './zone.ts'

export type View = { readonly startMs: number; readonly endMs: number }

const secondMs = 1000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs

export const shortestMs = minuteMs
/** The longest day has 25 hours. */
export const longestMs = 25 * hourMs

export function placeOf(ms: number, { startMs, endMs }: View, width: number): number {
  return ((ms - startMs) / (endMs - startMs)) * width
}

export function momentAt(place: number, { startMs, endMs }: View, width: number): number {
  return startMs + (place / width) * (endMs - startMs)
}

/** A `factor` below 1 zooms in. The moment `aboutMs` keeps its position. */
export function zoom({ startMs, endMs }: View, factor: number, aboutMs: number): View {
  const spanMs = endMs - startMs
  const newSpanMs = Math.min(longestMs, Math.max(shortestMs, spanMs * factor))
  const newStartMs = aboutMs - ((aboutMs - startMs) / spanMs) * newSpanMs
  return { startMs: newStartMs, endMs: newStartMs + newSpanMs }
}

export function move({ startMs, endMs }: View, byMs: number): View {
  return { startMs: startMs + byMs, endMs: endMs + byMs }
}

const isInView = ({ startMs, endMs }: View, ms: number) => ms >= startMs && ms <= endMs

/** Returns the view unchanged if the moment is visible, otherwise centered on it. */
export function follow(view: View, ms: number): View {
  const halfMs = (view.endMs - view.startMs) / 2
  return isInView(view, ms) ? view : { startMs: ms - halfMs, endMs: ms + halfMs }
}

/**
 * Turns the page when playback reaches the end of the view, up to a page that is mostly of the past. If the user has
 * moved elsewhere, the view stays.
 */
export function followPlaying(view: View, beforeMs: number, ms: number, nowMs: number): View {
  if (!isInView(view, beforeMs) || isInView(view, ms)) return view
  const spanMs = view.endMs - view.startMs
  const startMs = Math.min(ms - spanMs / 10, nowMs - spanMs * (1 - futureShare))
  return { startMs, endMs: startMs + spanMs }
}

const recentMs = 4 * hourMs
/** So much of a view of the present lies ahead, so that it need not turn at once. */
const futureShare = 0.1

/** The last hours: what has happened is what people look for first. */
export function viewOfRecent(nowMs: number): View {
  return { startMs: nowMs - recentMs * (1 - futureShare), endMs: nowMs + recentMs * futureShare }
}

/** The day that contains `ms`, from midnight to midnight. */
export function viewOfDay(ms: number, zone: Zone): View {
  return { startMs: startOfDay(ms, zone), endMs: startOfDay(ms, zone, 1) }
}

export type Tick = { readonly ms: number; readonly label: 'day' | 'time' | 'seconds' | 'none' }

/** From fine to coarse, each with the number of steps between labelled ticks. */
const steps = [
  { stepMs: secondMs, labelEvery: 5 },
  { stepMs: 5 * secondMs, labelEvery: 3 },
  { stepMs: 15 * secondMs, labelEvery: 4 },
  { stepMs: minuteMs, labelEvery: 5 },
  { stepMs: 5 * minuteMs, labelEvery: 3 },
  { stepMs: 15 * minuteMs, labelEvery: 4 },
  { stepMs: hourMs, labelEvery: 3 },
  { stepMs: 3 * hourMs, labelEvery: 2 },
] as const

const minLabelWidth = 88

/** Ticks at round local times, left to right, spaced so that labels fit. */
export function listTicks(view: View, width: number, zone: Zone): Tick[] {
  const spanMs = view.endMs - view.startMs
  const fits = ({ stepMs, labelEvery }: (typeof steps)[number]) =>
    ((stepMs * labelEvery) / spanMs) * width >= minLabelWidth
  const { stepMs, labelEvery } = steps.find(fits) ?? steps.at(-1)!
  const ticks: Tick[] = []
  for (let dayMs = startOfDay(view.startMs, zone); dayMs < view.endMs; dayMs = startOfDay(dayMs, zone, 1)) {
    ticks.push(...listTicksOfDay(dayMs, view, { stepMs, labelEvery, zone }))
  }
  return ticks
}

function listTicksOfDay(
  dayStartMs: number,
  view: View,
  { stepMs, labelEvery, zone }: { stepMs: number; labelEvery: number; zone: Zone },
): Tick[] {
  const dayEndMs = startOfDay(dayStartMs, zone, 1)
  const ticks: Tick[] = []
  // Steps below an hour follow elapsed time. Hours follow the local clock, which jumps twice a year.
  const isByClock = stepMs > hourMs
  const { year, month, day } = zone.localTime(dayStartMs)
  const skipped = isByClock ? 0 : Math.max(0, Math.floor((view.startMs - dayStartMs) / stepMs))
  for (let index = skipped; ; index++) {
    const ms = isByClock
      ? momentOf({ year, month, day, hour: (index * stepMs) / hourMs, minute: 0, second: 0 }, zone)
      : dayStartMs + index * stepMs
    if (ms >= dayEndMs || ms > view.endMs) return ticks
    if (ms < view.startMs) continue
    const { hour, minute, second } = zone.localTime(ms)
    const isLabelled = ((hour * 60 + minute) * 60 + second) % ((stepMs * labelEvery) / secondMs) === 0
    const label = ms === dayStartMs ? 'day' : stepMs >= minuteMs || second === 0 ? 'time' : 'seconds'
    ticks.push({ ms, label: isLabelled || ms === dayStartMs ? label : 'none' })
  }
}

export type Label = { readonly place: number; readonly text: string; readonly isDay: boolean }
export type FittedLabel = Label & { readonly anchor: 'start' | 'middle' | 'end' }

/** Upper bound; digits are narrower. */
const letterWidth = 7
const edge = 36

/**
 * Returns the labels that do not overlap, moved inward at the edges; days take precedence over times. `labels` run left
 * to right.
 */
export function fitLabels(labels: readonly Label[], width: number): FittedLabel[] {
  const fitted: (FittedLabel & { right: number; left: number })[] = []
  for (const label of labels) {
    const anchor = label.place < edge ? 'start' : label.place > width - edge ? 'end' : 'middle'
    const wide = label.text.length * letterWidth
    const left = label.place - { start: 0, middle: wide / 2, end: wide }[anchor]
    if (left < (fitted.at(-1)?.right ?? Number.NEGATIVE_INFINITY) + letterWidth) {
      if (!label.isDay || fitted.at(-1)!.isDay) continue
      fitted.pop()
    }
    fitted.push({ ...label, anchor, left, right: left + wide })
  }
  return fitted.map(({ place, text, isDay, anchor }) => ({ place, text, isDay, anchor }))
}

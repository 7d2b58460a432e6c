// Times without a frame inside a segment, for the timeline. They are read from the fragments and stored as text in the
// index row, so that a timeline does not have to read fragments.

import type { Fragment } from './segment.ts'

/** [startMs, endMs), Unix milliseconds. */
export type FootageHole = { readonly startMs: number; readonly endMs: number; readonly reason: string }

/** In order. A hole before the first fragment is not part of the segment. */
export function listHoles(fragments: readonly Fragment[]): FootageHole[] {
  const holes: FootageHole[] = []
  for (const [i, { startMs, hole }] of fragments.entries()) {
    if (hole && i > 0) holes.push({ startMs: startMs - hole.durationMs, endMs: startMs, reason: hole.reason })
  }
  return holes
}

export function writeHoles(holes: readonly FootageHole[]): string {
  return JSON.stringify(holes.map(({ startMs, endMs, reason }) => [startMs, endMs - startMs, reason]))
}

/** Parses the output of `writeHoles`. */
export function parseHoles(text: string): FootageHole[] {
  const holes = JSON.parse(text) as [number, number, string][]
  return holes.map(([startMs, durationMs, reason]) => ({ startMs, endMs: startMs + durationMs, reason }))
}

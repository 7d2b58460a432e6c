// Decides what a pointer grabs on the timeline. Positions are pixels from the left edge.

/** The timeline itself, the playhead, an end of the marked range, or a new range. */
export type Grip = 'room' | 'cursor' | 'start' | 'end' | 'range'

export type GripPlaces = {
  readonly cursor: number
  readonly start?: number | undefined
  readonly end?: number | undefined
}

/** `reach`: tolerance around a target, larger for touch. `isMarking`: dragging marks a range. */
export function findGrip(
  place: number,
  { cursor, start, end }: GripPlaces,
  { reach, isMarking }: { readonly reach: number; readonly isMarking: boolean },
): Grip {
  const candidates = [
    { grip: 'start' as const, at: start },
    { grip: 'end' as const, at: end },
    ...(isMarking ? [] : [{ grip: 'cursor' as const, at: cursor }]),
  ]
  let nearest: { grip: Grip; distance: number } | undefined
  for (const { grip, at } of candidates) {
    const distance = at === undefined ? Number.POSITIVE_INFINITY : Math.abs(place - at)
    if (distance <= reach && (!nearest || distance < nearest.distance)) nearest = { grip, distance }
  }
  return nearest?.grip ?? (isMarking ? 'range' : 'room')
}

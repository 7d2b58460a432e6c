// Restores a playlist whose first entries were deleted while it was not in memory: the remaining entries keep their
// numbers and times. They are created again from the footage and numbered backwards from the entry that was listed
// last.

import type { PartOrigin, StreamListing } from './stream-listing.ts'
import type { StreamPart } from './stream-part.ts'

/**
 * Returns where the part begins now, or undefined when none of the listed entries remain. `addFootage` adds footage to
 * a part until `isEnough` returns true.
 */
export async function findRemainingOrigin(
  { origin, listed, last, short, map, run }: StreamListing,
  createPart: (origin: PartOrigin) => StreamPart,
  addFootage: (part: StreamPart, isEnough: () => boolean) => Promise<unknown>,
): Promise<PartOrigin | undefined> {
  if (!last) return undefined
  const rebuild = async (shortEntries: number) => {
    const { place: _, map: __, ...rest } = origin
    const begin = { ...rest, sequence: 0, discontinuities: 0, position90k: 0, axis90k: 0, isDiscontinuity: false }
    const part = createPart({ ...begin, shortEntries })
    await addFootage(part, () => part.findSequence(last.segmentId, last.offset) !== undefined)
    return part
  }
  let part = await rebuild(0)
  const isShort = short !== undefined && part.entryAt(0)?.segmentId === short.segmentId
  if (isShort) part = await rebuild(short.entries)

  const first = part.entryAt(0)
  const at = part.findSequence(last.segmentId, last.offset)
  if (!first || at === undefined || part.entryAt(at)!.offset !== last.offset) return undefined
  const end = part.endAt(at + 1)
  const sequence = listed.sequence - end.sequence
  // More entries precede the last one than were ever listed, so these are other files.
  if (sequence < origin.sequence) return undefined
  const discontinuities = listed.discontinuities - end.discontinuities
  const isSameSection = discontinuities === origin.discontinuities + (origin.isDiscontinuity ? 1 : 0)
  const later90k = listed.axis90k - end.axis90k
  const { runBase90k, shift90k } = part.entries.findShift(first.segmentId)!
  // The beginning of the run may be deleted, but blocks of silence are still counted from it.
  const whole = { runBase90k: 0, shift90k: shift90k + later90k - runBase90k }
  const place = (isSameSection && run) || whole
  const { map: _, ...rest } = origin
  return {
    ...rest,
    startMs: first.startMs,
    epoch: first.epoch,
    sequence,
    discontinuities,
    position90k: first.position90k + listed.position90k - end.position90k,
    axis90k: first.axis90k + later90k,
    isDiscontinuity: false,
    shortEntries: isShort ? short.entries : 0,
    place: { segmentId: first.segmentId, offset: first.offset, ...place },
    ...(isSameSection && map && { map }),
  }
}

// The entries that the playlist of a recorded stream has listed so far, as stored with its row. With it, a restart of
// the server neither removes nor renumbers entries.

import type { EntriesOrigin } from './stream-entries.ts'

/** The start of a part of a stream. A part plays at one speed; a change of speed starts the next part. */
export type PartOrigin = EntriesOrigin & {
  /** Number of the part, which is included in the names of its files. */
  readonly part: number
  /** Number of the first entry in the stream. */
  readonly sequence: number
  /** Number of discontinuities before the first entry, without its own. */
  readonly discontinuities: number
  /**
   * The segment whose initialization section the playlist names at its first entry, when it belongs to an entry that
   * was removed. It is valid for the first entry, too.
   */
  readonly map?: { readonly segmentId: number; readonly initBytes: number }
}

/** The end of the listed entries, where the next one begins. */
export type ListedEnd = Pick<PartOrigin, 'sequence' | 'discontinuities' | 'axis90k' | 'position90k'>

export type StreamListing = {
  readonly origin: PartOrigin
  readonly listed: ListedEnd
  /** Wall clock of the first entry, which identifies it. Undefined before the first one. Unix milliseconds. */
  readonly firstMs: number | undefined
  /** The last listed entry. If the first entries are deleted, the others are numbered from it. */
  readonly last?: { readonly segmentId: number; readonly offset: number } | undefined
  /**
   * The initialization section that the first entry was listed with, and the position of its run on the time axis of
   * the stream.
   */
  readonly map?: PartOrigin['map'] | undefined
  readonly run?: { readonly runBase90k: number; readonly shift90k: number } | undefined
  /** A file other than the first one that begins with entries of a single group, and their number. */
  readonly short?: { readonly segmentId: number; readonly entries: number } | undefined
}

/** Parses the text that `writeListing` returned. */
export function parseListing(text: string): StreamListing {
  const { firstMs, ...listing } = JSON.parse(text) as StreamListing
  return { ...listing, firstMs }
}

/** Returns the text that is stored in the row of the stream. */
export function writeListing(listing: StreamListing): string {
  return JSON.stringify(listing)
}

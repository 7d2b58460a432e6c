// What a recorded stream's playlist has said so far, as it is kept beside the stream's row: so that a restart of the server neither
// takes anything back nor numbers anything anew.

import type { EntriesOrigin } from './stream-entries.ts'

/** A part of a stream: what it plays at one speed. A change of speed begins the next one. */
export type PartOrigin = EntriesOrigin & {
  /** In the names of its files. */
  readonly part: number
  /** Number of its first entry in the stream. */
  readonly sequence: number
  /** Discontinuities before the first entry, its own not counted. */
  readonly discontinuities: number
  /** Whose initialization section the playlist names at its first entry, when that was of an entry which has left; it holds for the first one too. */
  readonly map?: { readonly segmentId: number; readonly initBytes: number }
}

/** Up to where entries have been listed: what comes next begins here. */
export type ListedEnd = Pick<PartOrigin, 'sequence' | 'discontinuities' | 'axis90k' | 'position90k'>

export type StreamListing = {
  readonly origin: PartOrigin
  readonly listed: ListedEnd
  /** Wall clock of the first entry, by which it is known again; undefined before there was any. Unix milliseconds. */
  readonly firstMs: number | undefined
  /** The last entry that was listed: should the first ones be deleted, the others are numbered from here. */
  readonly last?: { readonly segmentId: number; readonly offset: number } | undefined
  /** The initialization section that the first entry was listed with, and how its run lies on the stream's time axis. */
  readonly map?: PartOrigin['map'] | undefined
  readonly run?: { readonly runBase90k: number; readonly shift90k: number } | undefined
  /** A file other than the first that begins with entries of a single group, and how many these are. */
  readonly short?: { readonly segmentId: number; readonly entries: number } | undefined
}

/** Parses the text that `writeListing` returned. */
export function parseListing(text: string): StreamListing {
  const { firstMs, ...listing } = JSON.parse(text) as StreamListing
  return { ...listing, firstMs }
}

export function writeListing(listing: StreamListing): string {
  return JSON.stringify(listing)
}

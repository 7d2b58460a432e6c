import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseListing, type StreamListing, writeListing } from './stream-listing.ts'

const part = {
  ...{ startMs: 1, speed: 1, position90k: 0, axis90k: 0, isDiscontinuity: false, shortEntries: 0, part: 0 },
  ...{ sequence: 0, discontinuities: 0 },
}
const listed = { sequence: 3, discontinuities: 0, axis90k: 9, position90k: 9 }

test('a stored listing is read as it was written', () => {
  const listings: StreamListing[] = [
    { origin: { ...part, hasAudio: true }, listed, firstMs: 5 },
    { origin: part, listed, firstMs: undefined },
  ]
  for (const listing of listings) assert.deepEqual(parseListing(writeListing(listing)), listing)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseListing, writeListing } from './stream-listing.ts'

const stored =
  '{"origin":{"startMs":1,"speed":1,"position90k":0,"axis90k":0,"isDiscontinuity":false,"shortEntries":0,"part":0,' +
  '"sequence":0,"discontinuities":0,"hasAudio":true},"listed":{"sequence":3,"discontinuities":0,"axis90k":9,' +
  '"position90k":9},"firstMs":5}'

test('a stored listing is read and written unchanged', () => {
  const listing = parseListing(stored)
  assert.equal(listing.origin.hasAudio, true)
  assert.equal(listing.firstMs, 5)
  assert.equal(writeListing(listing), stored)
})

test('a listing without audio information is read and written unchanged', () => {
  const text = stored.replace(',"hasAudio":true', '')
  assert.equal('hasAudio' in parseListing(text).origin, false)
  assert.equal(writeListing(parseListing(text)), text)
})

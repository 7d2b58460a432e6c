import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readGigabytes, writeBytes, writeGigabytes } from './byte-size.ts'

test("sizes use a fitting unit and the language's format", () => {
  const space = (text: string) => text.replaceAll(/\s/g, ' ')
  assert.deepEqual(
    [0, 450_000, 999_000_000, 1_234_000_000, 12_340_000_000_000].map((bytes) => space(writeBytes(bytes, 'en'))),
    ['0 MB', '0.5 MB', '999 MB', '1.23 GB', '12.3 TB'],
  )
  assert.equal(space(writeBytes(1_234_000_000, 'de')), '1,23 GB')
})

test('a limit is entered in gigabytes; empty means no limit, and invalid input is neither', () => {
  for (const bytes of [null, 1e9, 2_500_000_000, 10_000_000]) assert.equal(readGigabytes(writeGigabytes(bytes)), bytes)
  assert.deepEqual(['', ' ', '0.5'].map(readGigabytes), [null, null, 500_000_000])
  assert.deepEqual(['0', '-1', 'much', '1e30'].map(readGigabytes), [undefined, undefined, undefined, undefined])
})

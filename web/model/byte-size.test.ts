import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeBytes } from './byte-size.ts'

test('sizes are written in the unit that fits and in the language', () => {
  const space = (text: string) => text.replaceAll(/\s/g, ' ')
  assert.deepEqual(
    [0, 450_000, 999_000_000, 1_234_000_000, 12_340_000_000_000].map((bytes) => space(writeBytes(bytes, 'en'))),
    ['0 MB', '0.5 MB', '999 MB', '1.23 GB', '12.3 TB'],
  )
  assert.equal(space(writeBytes(1_234_000_000, 'de')), '1,23 GB')
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { AppError } from '../base/error.ts'
import { parseFragmentTable, writeFragmentTable } from './fragment-table.ts'
import type { Fragment } from './segment.ts'

const time = fc.integer({ min: 0, max: 2 ** 48 })
const fragments: fc.Arbitrary<Fragment[]> = fc.array(
  fc.record(
    {
      offset: time,
      bytes: fc.nat(),
      start90k: time,
      duration90k: fc.nat(),
      startMs: time,
      durationMs: fc.nat(),
      isKey: fc.boolean(),
    },
    { noNullPrototype: true },
  ),
)

test('what is written is read back', () => {
  fc.assert(fc.property(fragments, (f) => assert.deepEqual(parseFragmentTable(writeFragmentTable(f)), f)))
})

test('other bytes give fragments or corrupt', () => {
  const read = (bytes: Uint8Array) => {
    try {
      parseFragmentTable(bytes)
    } catch (error) {
      assert.ok(error instanceof AppError && error.kind === 'corrupt', String(error))
    }
  }
  fc.assert(fc.property(fc.uint8Array(), (bytes) => read(Uint8Array.of(1, ...bytes))))
  fc.assert(
    fc.property(fragments, fc.nat(), (f, cut) => {
      const bytes = writeFragmentTable(f)
      const length = cut % bytes.length
      assert.throws(() => parseFragmentTable(bytes.subarray(0, length)), { kind: 'corrupt' })
    }),
  )
})

test('a minute of ordinary fragments takes about ten bytes each', () => {
  const minute = Array.from({ length: 60 }, (_, i) => ({
    offset: 800 + i * 250_000 + (i % 7) * 1000,
    bytes: 250_000,
    start90k: i * 90_000,
    duration90k: 90_000,
    startMs: 1_800_000_000_000 + i * 1000,
    durationMs: 1000,
    isKey: true,
  }))
  assert.ok(writeFragmentTable(minute).length < 11 * 60)
})

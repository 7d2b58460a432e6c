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
      isDamaged: fc.constant(true as const),
      hole: fc.record(
        { durationMs: fc.nat(), reason: fc.constantFrom('packet_loss', 'no_frames', ''), isCut: fc.boolean() },
        { noNullPrototype: true },
      ),
    },
    {
      noNullPrototype: true,
      requiredKeys: ['offset', 'bytes', 'start90k', 'duration90k', 'startMs', 'durationMs', 'isKey'],
    },
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
  fc.assert(
    fc.property(fc.constantFrom(1, 2, 3), fc.uint8Array(), (version, bytes) => read(Uint8Array.of(version, ...bytes))),
  )
  fc.assert(
    fc.property(fragments, fc.nat(), (f, cut) => {
      const bytes = writeFragmentTable(f)
      const length = cut % bytes.length
      assert.throws(() => parseFragmentTable(bytes.subarray(0, length)), { kind: 'corrupt' })
    }),
  )
})

test('a minute of ordinary fragments takes about five bytes each', () => {
  const minute: Fragment[] = []
  for (let i = 0, offset = 800, startMs = 1_800_000_000_000; i < 60; i++) {
    const bytes = 250_000 + (i % 7) * 1000
    // A camera whose clock is slightly off: now and then a fragment is a millisecond longer.
    const durationMs = i % 10 === 0 ? 1001 : 1000
    minute.push({ offset, bytes, start90k: i * 90_000, duration90k: 90_000, startMs, durationMs, isKey: true })
    offset += bytes
    startMs += durationMs
  }
  const table = writeFragmentTable(minute)
  assert.deepEqual(parseFragmentTable(table), minute)
  assert.ok(table.length < 5 * 60, `${table.length} bytes`)
})

test('a table of version 1 is still read', () => {
  const table = Uint8Array.of(1, 2, 0xc0, 0x0c, 0xa1, 0x1f, 0, 0x90, 0x03, 0x80, 0x02, 0x14, 0, 0xa0, 0x1f, 0, 0, 0, 0)
  assert.deepEqual(parseFragmentTable(table), [
    { offset: 800, bytes: 2000, start90k: 0, duration90k: 200, startMs: 128, durationMs: 10, isKey: true },
    { offset: 2800, bytes: 2000, start90k: 200, duration90k: 200, startMs: 138, durationMs: 10, isKey: false },
  ])
})

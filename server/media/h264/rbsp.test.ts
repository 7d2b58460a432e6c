import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { escapeNal, RbspReader, RbspWriter, unescapeNal } from './rbsp.ts'

/** Many zeros and small numbers, the bytes that start codes consist of. */
const bytes = fc.uint8Array({ maxLength: 60 }).map((all) => all.map((byte) => (byte < 200 ? byte & 3 : byte)))

test('escaped bytes contain no start code and unescape to the original', () => {
  fc.assert(
    fc.property(bytes, (rbsp) => {
      const nal = escapeNal(rbsp)
      for (let i = 0; i + 2 < nal.length; i++) {
        assert.ok(nal[i] !== 0 || nal[i + 1] !== 0 || nal[i + 2]! > 2, `${nal}`)
      }
      assert.deepEqual(unescapeNal(nal), rbsp)
    }),
    { numRuns: 2000 },
  )
})

test('bits are copied unchanged between any positions', () => {
  const cases = fc.tuple(bytes, fc.nat(500), fc.nat(500), fc.nat(20))
  fc.assert(
    fc.property(cases, ([source, one, other, before]) => {
      const from = Math.min(one, other, source.length * 8)
      const to = Math.min(Math.max(one, other), source.length * 8)
      const writer = new RbspWriter(source.length + 8)
      writer.bits(0b10110, before)
      writer.copy(source, from, to)
      writer.bits(0b101, 3)
      assert.equal(writer.at, before + to - from + 3)
      const reader = new RbspReader(writer.take(), 0)
      const original = new RbspReader(source, from)
      assert.equal(reader.bits(before), 0b10110 % 2 ** before)
      for (let i = from; i < to; i++) assert.equal(reader.bit(), original.bit(), `bit ${i}`)
      assert.equal(reader.bits(3), 0b101)
    }),
    { numRuns: 2000 },
  )
})

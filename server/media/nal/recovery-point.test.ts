import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { clearRecoveryCount, findRecoveryPoint } from './recovery-point.ts'

type Message = { readonly type: number; readonly payload: readonly number[] }

/** A NAL unit with messages, with emulation prevention. */
function writeUnit(headerBytes: 1 | 2, messages: readonly Message[]): Uint8Array {
  const size = (value: number) => [...new Array<number>(Math.floor(value / 255)).fill(255), value % 255]
  const content = messages.flatMap(({ type, payload }) => [...size(type), ...size(payload.length), ...payload])
  const out = headerBytes === 1 ? [6] : [39 << 1, 1]
  let zeros = 0
  for (const byte of [...content, 0x80]) {
    if (zeros >= 2 && byte <= 3) {
      out.push(3)
      zeros = 0
    }
    zeros = byte === 0 ? zeros + 1 : 0
    out.push(byte)
  }
  return Uint8Array.from(out)
}

/** ue(v), exact, broken, and two more bits in H.264. */
function writePoint(headerBytes: 1 | 2, count: number, isBroken: boolean): Message {
  const code = headerBytes === 1 ? count : count === 0 ? 0 : 2 * count - 1
  const digits = (code + 1).toString(2)
  const bits = `${'0'.repeat(digits.length - 1)}${digits}1${isBroken ? 1 : 0}${headerBytes === 1 ? '00' : ''}1`
  const padded = bits.padEnd(Math.ceil(bits.length / 8) * 8, '0')
  return { type: 6, payload: padded.match(/.{8}/g)!.map((byte) => Number.parseInt(byte, 2)) }
}

const other = fc.record({
  type: fc.constantFrom(0, 1, 4, 5, 137, 255, 300),
  payload: fc.array(fc.oneof(fc.constant(0), fc.nat(255)), { maxLength: 300 }),
})
const headers = fc.constantFrom<1 | 2>(1, 2)

test('a recovery point is found among other messages', () => {
  fc.assert(
    fc.property(
      headers,
      fc.nat(65_535),
      fc.boolean(),
      fc.array(other, { maxLength: 3 }),
      (header, count, broken, others) => {
        const unit = writeUnit(header, [...others, writePoint(header, count, broken), ...others])
        const found = findRecoveryPoint(Uint8Array.of(9, 9, ...unit, 9), 2, 2 + unit.length, header)
        assert.deepEqual([found?.count, found?.isBroken], [count, broken])
        assert.equal(findRecoveryPoint(writeUnit(header, others), 0, 1e6, header), undefined)
      },
    ),
  )
})

test('clearing the count sets it to 0 and changes nothing else', () => {
  fc.assert(
    fc.property(fc.nat(65_535), fc.boolean(), fc.array(other, { maxLength: 3 }), (count, broken, others) => {
      const unit = writeUnit(1, [...others, writePoint(1, count, broken)])
      const before = unit.slice()
      const point = findRecoveryPoint(unit, 0, unit.length, 1)!
      clearRecoveryCount(unit, point)
      const after = findRecoveryPoint(unit, 0, unit.length, 1)!
      assert.deepEqual([after.count, after.isBroken], [0, broken])
      assert.deepEqual(unit.subarray(0, point.start), before.subarray(0, point.start))
      assert.deepEqual(unit.subarray(point.end), before.subarray(point.end))
    }),
  )
})

test('random bytes never throw', () => {
  fc.assert(
    fc.property(headers, fc.uint8Array({ maxLength: 60 }), (header, bytes) => {
      const found = findRecoveryPoint(bytes, 0, bytes.length, header)
      assert.ok(found === undefined || (found.count >= 0 && found.count <= 65_535 && found.end <= bytes.length))
    }),
  )
})

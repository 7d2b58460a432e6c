import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { RtpReorderer } from './reorderer.ts'

const packet = (sequence: number, tag = 0) => Uint8Array.of(0x80, 96, (sequence >> 8) & 0xff, sequence & 0xff, tag)
const sequenceOf = (bytes: Uint8Array) => (bytes[2]! << 8) | bytes[3]!

function open(options: { maxPackets?: number; maxMs?: number } = {}) {
  const seen: number[] = []
  const reorderer = new RtpReorderer({ onPacket: (bytes) => seen.push(sequenceOf(bytes)), ...options })
  return { seen, reorderer }
}

test('swapped packets are put in order, across the sequence number wrap, without duplicates', () => {
  const { seen, reorderer } = open()
  for (const sequence of [65_533, 65_535, 65_534, 1, 0, 0, 2, 65_534, 4, 3]) reorderer.push(packet(sequence), 0)
  assert.deepEqual(seen, [65_533, 65_534, 65_535, 0, 1, 2, 3, 4])
  assert.equal(reorderer.latePackets, 2)
})

test('a missing packet is given up after the packet limit or the time limit', () => {
  const byCount = open({ maxPackets: 3 })
  for (const sequence of [1, 3, 4, 5, 6, 2]) byCount.reorderer.push(packet(sequence), 0)
  assert.deepEqual(byCount.seen, [1, 3, 4, 5, 6])
  assert.equal(byCount.reorderer.latePackets, 1)

  const byTime = open({ maxMs: 100 })
  byTime.reorderer.push(packet(1), 0)
  byTime.reorderer.push(packet(3), 10)
  byTime.reorderer.push(packet(4), 109)
  assert.deepEqual(byTime.seen, [1])
  byTime.reorderer.expire(110)
  assert.deepEqual(byTime.seen, [1, 3, 4])
})

test('a restarted sequence is accepted at its second packet; a single packet far out of sequence is dropped', () => {
  const { seen, reorderer } = open()
  for (const sequence of [10, 11, 30_000, 12, 40_000, 40_001, 40_002]) reorderer.push(packet(sequence), 0)
  assert.deepEqual(seen, [10, 11, 12, 40_000, 40_001, 40_002])
})

test('in any order nothing is delivered twice, limits are kept, and without loss everything is in order', () => {
  const network = fc.array(
    fc.record({ delay: fc.nat(30), isLost: fc.constantFrom(false, false, false, true), isTwice: fc.boolean() }),
    { maxLength: 200 },
  )
  fc.assert(
    fc.property(network, fc.nat(0xffff), fc.boolean(), (steps, first, mayLose) => {
      const { seen, reorderer } = open({ maxPackets: 40, maxMs: 100 })
      const sent = steps
        .flatMap(({ delay, isLost, isTwice }, i) =>
          isLost && mayLose && i > 0
            ? []
            : Array.from({ length: isTwice ? 2 : 1 }, (_, n) => ({ i, at: i + delay * n })),
        )
        .map(({ i, at }, n) => ({ i, at: i === 0 ? -1 : at + (steps[i]!.delay % 7), n }))
        .sort((a, b) => a.at - b.at || a.n - b.n)
      for (const { i, at } of sent) reorderer.push(packet(first + i), at)
      reorderer.expire(1e6)
      const indexes = seen.map((sequence) => (sequence - first) & 0xffff)
      assert.equal(new Set(indexes).size, indexes.length)
      assert.deepEqual(
        indexes,
        indexes.toSorted((a, b) => a - b),
      )
      const arrived = new Set(sent.map(({ i }) => i))
      assert.deepEqual(
        indexes,
        [...arrived].sort((a, b) => a - b),
        'delays below the limit lose nothing',
      )
    }),
    { numRuns: 300 },
  )
})

test('random bytes never throw', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 8 }), { maxLength: 60 }), (packets) => {
      const { reorderer } = open({ maxPackets: 5 })
      for (const [i, bytes] of packets.entries()) reorderer.push(bytes, i)
    }),
  )
})

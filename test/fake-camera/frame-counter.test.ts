import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { listFrameCounters, readFrameCounter, writeFrameCounter } from './frame-counter.ts'

const counters = fc.record(
  { frameNumber: fc.nat(), unixMs: fc.integer({ min: 0, max: 2 ** 43 }) },
  { noNullPrototype: true },
)

test('what is written is read, always the same size, and needs no emulation prevention', () => {
  fc.assert(
    fc.property(counters, fc.constantFrom('h264', 'h265'), (counter, codec) => {
      const nal = writeFrameCounter(counter, codec)
      assert.equal(nal.length, codec === 'h264' ? 44 : 45)
      assert.deepEqual(readFrameCounter(nal), counter)
      assert.ok(!nal.includes(0))
    }),
  )
})

test('all counters among other bytes are found in order; a cut one is not', () => {
  fc.assert(
    fc.property(fc.array(counters), fc.uint8Array({ maxLength: 40 }), fc.nat({ max: 42 }), (list, other, cut) => {
      const bytes = [...list.flatMap((counter) => [...writeFrameCounter(counter), ...other])]
      const cutNal = writeFrameCounter({ frameNumber: 1, unixMs: 1 }).subarray(0, cut)
      assert.deepEqual(listFrameCounters(Uint8Array.from([...bytes, ...cutNal])), list)
    }),
  )
})

test('bytes without a counter give none', () => {
  fc.assert(fc.property(fc.uint8Array(), (bytes) => assert.equal(readFrameCounter(bytes), undefined)))
})

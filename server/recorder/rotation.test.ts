import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { nextRotationMs } from './rotation.ts'

test('a file lasts between a quarter and one and a quarter of the period', () => {
  fc.assert(
    fc.property(fc.nat(1_000_000), fc.nat(4_000_000_000), (cameraId, startMs) => {
      const ms = nextRotationMs(cameraId, startMs, 60_000) - startMs
      assert.ok(ms >= 15_000 - 1 && ms <= 75_000 + 1, `${ms}`)
    }),
  )
})

test('at most a quarter of a hundred cameras rotate within any ten seconds', () => {
  const perSlot = new Array<number>(6).fill(0)
  for (let id = 1; id <= 100; id++)
    perSlot[Math.floor((nextRotationMs(id, 1_000_000_000, 60_000) % 60_000) / 10_000)]!++
  assert.ok(Math.max(...perSlot) <= 25, perSlot.join())
})

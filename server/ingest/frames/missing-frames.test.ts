import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MissingFrames } from './missing-frames.ts'

/**
 * Counts missing frames of a 25 frames/s stream with two packets per frame. `frames`: frame numbers in sending order.
 */
function count(frames: readonly number[], lost: (index: number) => boolean): number {
  const missing = new MissingFrames()
  let total = 0
  let isAfterLoss = false
  for (const [i, frame] of frames.entries()) {
    for (let packet = 0; packet < 2; packet++) {
      if (lost(2 * i + packet)) isAfterLoss = true
      else {
        total += missing.take(1e9 + frame * 3600, isAfterLoss)
        isAfterLoss = false
      }
    }
  }
  return total
}

const frames = Array.from({ length: 100 }, (_, i) => i)
/** I0 P3 B1 B2 P6 B4 B5 … */
const reordered = frames.map((i) => (i === 0 ? 0 : i + (i % 3 === 1 ? 2 : -1)))

test('frames of which no packet arrived are counted, and others are not', () => {
  assert.equal(
    count(frames, () => false),
    0,
  )
  assert.equal(
    count(frames, (packet) => packet === 61),
    0,
  )
  assert.equal(
    count(frames, (packet) => packet >= 60 && packet < 64),
    2,
  )
  assert.equal(
    count(frames, (packet) => packet >= 61 && packet < 67),
    2,
  )
  assert.equal(
    count(frames, (packet) => packet >= 60 && packet < 160),
    50,
  )
})

test('about as many frames are counted as are missing if frames are sent out of order', () => {
  assert.equal(
    count(reordered, () => false),
    0,
  )
  for (let from = 60; from < 66; from++) {
    const counted = count(reordered, (packet) => packet >= 2 * from && packet < 2 * (from + 12))
    assert.ok(counted >= 7 && counted <= 15, `${counted} after ${from}`)
  }
})

test('a jump of the clock is not counted as loss', () => {
  const jumped = frames.map((i) => (i < 50 ? i : i + 1000))
  assert.equal(
    count(jumped, (packet) => packet === 99),
    0,
  )
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Faults, spoilFrames } from '../../test/playback/lossy-frames.ts'
import { type SyntheticOptions, syntheticFormat, syntheticFrames } from '../../test/support/media/synthetic-frames.ts'
import { FrameMeter } from './frame-meter.ts'

function measure(seconds: number, options: SyntheticOptions & Faults): FrameMeter {
  const meter = new FrameMeter()
  meter.push({ kind: 'start', runId: 'a', format: syntheticFormat(options) })
  for (const frame of spoilFrames(syntheticFrames(options), options)) {
    if (frame.dts90k >= seconds * 90_000) break
    meter.push(frame)
  }
  return meter
}

test('losing the rest of a group of pictures is a freeze of that length', () => {
  const { freezes, frozenMs } = measure(60, {
    gopFrames: 100,
    losses: [
      [9, 9.04],
      [30.2, 30.24],
    ],
  })
  assert.deepEqual([freezes, Math.round(frozenMs)], [2, 3000 + 1800])
})

test('a pause is a freeze, but a lower frame rate is not', () => {
  const paused = measure(60, { gopFrames: 100, pauses: [[30, 32]] })
  assert.deepEqual([paused.freezes, Math.round(paused.frozenMs)], [1, 2000])
  const pauses = Array.from({ length: 10 }, (_, i) => [30.04 + i * 2, 32 + i * 2] as const)
  assert.equal(measure(60, { gopFrames: 50, pauses }).freezes, 0)
})

test('the time between two runs is not a freeze', () => {
  const meter = measure(10, {})
  meter.push({ kind: 'end', reason: 'camera_unreachable' })
  meter.push({ kind: 'start', runId: 'b', format: syntheticFormat() })
  for (const frame of syntheticFrames({ start90k: 60 * 90_000 })) {
    if (frame.dts90k >= 70 * 90_000) break
    meter.push(frame)
  }
  assert.equal(meter.freezes, 0)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { syntheticFormat } from '../../../test/support/media/synthetic-frames.ts'
import { KeyIntervals } from './key-intervals.ts'

const start = { kind: 'start', runId: 'run', format: syntheticFormat() } as const
const end = { kind: 'end', reason: 'camera_unreachable' } as const

function frame(seconds: number, isKey: boolean) {
  const at90k = seconds * 90_000
  return { kind: 'video', pts90k: at90k, dts90k: at90k, wallMs: seconds * 1000, isKey, data: new Uint8Array() } as const
}

test('the interval of key frames is reported when it is first known and when it changes, also across connections', () => {
  const intervals = new KeyIntervals()
  const reported = [
    ...[start, frame(0, true), frame(1, false), end, start, frame(0, true)],
    ...[frame(12, true), frame(24.1, true), end, start, frame(0, true), frame(20, true)],
    ...[frame(30, true), frame(32, true), frame(34, true), frame(36, true), frame(38, true)],
  ].map((item) => intervals.take(item))
  assert.deepEqual(
    reported.flatMap((ms) => ms ?? []),
    [12_000, 20_000, 10_000, 2000],
  )
  assert.ok(intervals.isKnown)
})

test('the interval is reported once for a camera that sends only key frames', () => {
  const intervals = new KeyIntervals()
  const reported = [0, 0.03, 0.08, 0.1, 0.16, 0.2, 0.9].map((seconds) => intervals.take(frame(seconds, true)))
  assert.deepEqual(
    reported.flatMap((ms) => ms ?? []),
    [1000],
  )
})

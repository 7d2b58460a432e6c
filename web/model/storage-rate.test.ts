import assert from 'node:assert/strict'
import { test } from 'node:test'
import { areMeasuring, isMeasuring } from './storage-rate.ts'

const nowMs = Date.UTC(2026, 10, 21, 12)
const since = (seconds: number) => new Date(nowMs - seconds * 1000).toISOString()

test('no growth rate is shown in the first minute', () => {
  assert.ok(isMeasuring({ bytes_per_day: 0, recording_start: since(20) }, nowMs))
  assert.ok(!isMeasuring({ bytes_per_day: 5, recording_start: since(20) }, nowMs))
  // What stands still for longer does, and what never was recorded too.
  assert.ok(!isMeasuring({ bytes_per_day: 0, recording_start: since(3600) }, nowMs))
  assert.ok(!isMeasuring({ bytes_per_day: 0, recording_start: null }, nowMs))
})

test('the rate of several cameras is known as soon as one of them is', () => {
  const fresh = { bytes_per_day: 0, recording_start: since(20) }
  assert.ok(areMeasuring(0, [fresh, { bytes_per_day: 0, recording_start: since(3600) }], nowMs))
  assert.ok(!areMeasuring(7, [fresh], nowMs))
  assert.ok(!areMeasuring(0, [], nowMs))
})

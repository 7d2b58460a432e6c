import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '../base/error.ts'
import { getTimeRange, maxTimelineMs } from './time-range.ts'

const fieldsOf = (start: string, end: string) => {
  try {
    getTimeRange({ start, end }, maxTimelineMs)
  } catch (error) {
    assert.ok(error instanceof AppError && error.kind === 'invalid')
    return Object.keys(error.fields ?? {})
  }
  return []
}

test('a day on which the clocks are set back is legal, one millisecond more is not', () => {
  assert.deepEqual(fieldsOf('2026-10-24T22:00Z', '2026-10-25T23:00Z'), [])
  assert.deepEqual(fieldsOf('2026-10-24T22:00Z', '2026-10-25T23:00:00.001Z'), ['end'])
})

test('the end comes after the start', () => {
  assert.deepEqual(fieldsOf('2026-07-01T00:00:00Z', '2026-07-01T00:00:00Z'), ['end'])
  assert.deepEqual(fieldsOf('2026-07-01T00:00:01Z', '2026-07-01T00:00:00Z'), ['end'])
})

test('the bad bound is named', () => {
  assert.deepEqual(fieldsOf('yesterday', '2026-07-01T00:00:00Z'), ['start'])
  assert.deepEqual(fieldsOf('2026-07-01T00:00:00Z', 'today'), ['end'])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseTime, writeTime, writeTimeUp } from './time.ts'

test('every accepted form names the same instant', () => {
  const expected = Date.UTC(2026, 6, 1, 10, 20, 30)
  for (const text of [
    '2026-07-01T10:20:30Z',
    '2026-07-01T10:20:30',
    '2026-07-01T10:20:30.000Z',
    '2026-07-01T10:20:30.0000001',
    '2026-07-01T12:20:30+02:00',
    '2026-07-01T12:20:30 02:00',
    '2026-07-01T05:50:30-04:30',
    '2026-07-01 10:20:30Z',
    '2026-07-01t10:20:30z',
    '2026-07-01 10:20:30',
    '2026-07-01T10:20:30,000Z',
    '2026-07-01T12:20:30+0200',
    '2026-07-01T12:20:30 0200',
    '2026-07-01T12:20:30+02',
    '2026-07-01 12:20:30 +0200',
    '2026-07-01 10:20:30 UTC',
    '2026-07-01T10:20:30-0000',
  ]) {
    assert.equal(parseTime(text), expected, text)
  }
  assert.equal(parseTime('2026-07-01T10:20'), expected - 30_000)
  assert.equal(parseTime('2026-07-01T10:20Z'), expected - 30_000)
  assert.equal(parseTime('2016-12-31T23:59:60Z'), Date.UTC(2017, 0, 1))
  assert.equal(parseTime('2026-07-01T12:20+02:00'), expected - 30_000)
  assert.equal(parseTime('2026-07-01T10:20:30.25Z'), expected + 250)
  assert.equal(parseTime('2026-07-01T10:20:30.999999999999999999999999Z'), expected + 999)
})

test('everything else is refused', () => {
  for (const text of [
    '',
    'now',
    '1751365230',
    '2026-07-01',
    '2026-07-01  10:20:30Z',
    '2026-07-01_10:20:30Z',
    '2026-7-1T10:20:30Z',
    '2026-02-30T10:20:30Z',
    '2026-13-01T10:20:30Z',
    '2026-07-00T10:20:30Z',
    '2026-07-01T24:00:00Z',
    '2026-07-01T10:60:00Z',
    '2026-07-01T10:20:61Z',
    '2026-07-01T10:20:30.Z',
    '2026-07-01T10:20:30+2',
    '2026-07-01T10:20:30+020',
    '2026-07-01T10:20:30+0260',
    '2026-07-01T10:20:30CEST',
    '2026-07-01T10:20:30+24:00',
    '2026-07-01T10:20:30Z ',
    '2026-07-01T10:20:30ZZ',
    '20260701T102030Z',
    '9999-12-31T23:59:59.5Z',
    '9999-12-31T23:59:59-01:00',
    '0001-01-01T00:00:00+01:00',
    '0000-01-01T00:00:00Z',
    '+002026-07-01T10:20:30Z',
  ]) {
    assert.equal(parseTime(text), undefined, text)
  }
})

test('what is written reads back, to the second', () => {
  fc.assert(
    fc.property(fc.integer({ min: Date.UTC(1, 0, 2), max: Date.UTC(9999, 11, 30) }), (ms) => {
      assert.equal(parseTime(writeTime(ms)), Math.floor(ms / 1000) * 1000 + 0)
      assert.equal(parseTime(writeTimeUp(ms)), Math.ceil(ms / 1000) * 1000 + 0)
      assert.match(writeTime(ms), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    }),
  )
})

test('any text is a time or undefined, never an exception', () => {
  fc.assert(fc.property(fc.string(), (text) => ['undefined', 'number'].includes(typeof parseTime(text))))
})

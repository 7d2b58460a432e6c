import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createZone, momentOf, momentsOf, parseLocalTime, startOfDay, writeLocalTime, writeOffset } from './zone.ts'

const berlin = createZone('Europe/Berlin')
const hourMs = 3_600_000
const at = (text: string) => Date.parse(text)

test('days have 23, 24 and 25 hours', () => {
  const lengthOf = (text: string) => (startOfDay(at(text), berlin, 1) - startOfDay(at(text), berlin)) / hourMs
  assert.equal(lengthOf('2026-03-29T12:00:00Z'), 23)
  assert.equal(lengthOf('2026-07-01T12:00:00Z'), 24)
  assert.equal(lengthOf('2026-10-25T12:00:00Z'), 25)
  assert.equal(startOfDay(at('2026-10-25T22:30:00Z'), berlin), at('2026-10-24T22:00:00Z'))
})

test('skipped and repeated local times are handled', () => {
  const time = (day: number, month: number, hour: number) => ({ year: 2026, month, day, hour, minute: 30, second: 0 })
  assert.equal(momentOf(time(29, 3, 2), berlin), at('2026-03-29T01:30:00Z'))
  assert.equal(momentOf(time(25, 10, 2), berlin), at('2026-10-25T00:30:00Z'))
})

test('a day without midnight begins with its first moment', () => {
  const beirut = createZone('Asia/Beirut')
  const startMs = startOfDay(at('2024-03-31T12:00:00Z'), beirut)
  assert.equal(startMs, at('2024-03-30T22:00:00Z'))
  assert.deepEqual(beirut.localTime(startMs), { year: 2024, month: 3, day: 31, hour: 1, minute: 0, second: 0 })
})

test('a local time converts back to its moment', () => {
  const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu'].map(createZone)
  const seconds = fc.integer({ min: at('2000-01-01T00:00:00Z') / 1000, max: at('2040-01-01T00:00:00Z') / 1000 })
  fc.assert(
    fc.property(fc.constantFrom(...zones), seconds, (zone, second) => {
      const ms = second * 1000
      const back = momentOf(zone.localTime(ms), zone)
      // The second of two equal readings leads to the first.
      assert.ok(back === ms || (back < ms && ms - back <= hourMs))
      assert.deepEqual(zone.localTime(back), zone.localTime(ms))
    }),
    { numRuns: 300 },
  )
})

test('a local time has zero, one or two moments', () => {
  const readings = ['2026-03-29T02:30', '2026-07-01T02:30', '2026-10-25T02:30:00'].map((text) =>
    momentsOf(parseLocalTime(text)!, berlin).map((ms) => new Date(ms).toISOString()),
  )
  assert.deepEqual(readings, [
    [],
    ['2026-07-01T00:30:00.000Z'],
    ['2026-10-25T00:30:00.000Z', '2026-10-25T01:30:00.000Z'],
  ])
  const [first, second] = readings[2]!.map(at)
  assert.deepEqual([writeOffset(first!, berlin), writeOffset(second!, berlin)], ['UTC+2', 'UTC+1'])
  assert.equal(writeOffset(first!, createZone('America/St_Johns')), 'UTC−2:30')
})

test('form field values are parsed and formatted', () => {
  const seconds = fc.integer({ min: at('1970-01-01T00:00:00Z') / 1000, max: at('2100-01-01T00:00:00Z') / 1000 })
  fc.assert(
    fc.property(seconds, (second) => {
      const local = berlin.localTime(second * 1000)
      assert.deepEqual(parseLocalTime(writeLocalTime(local)), local)
      assert.ok(momentsOf(local, berlin).includes(second * 1000))
    }),
  )
  assert.equal(parseLocalTime(''), undefined)
  assert.equal(parseLocalTime('2026-1-1T00:00'), undefined)
})

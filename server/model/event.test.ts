import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { AppError } from '../base/error.ts'
import { getOccurredAt, isCategory, maxDataBytes, writeEventData } from './event.ts'
import { dayMs, splitDays } from './event-days.ts'

const nowMs = Date.UTC(2030, 0, 1)

test('data comes out as it went in, up to its limits', () => {
  assert.equal(writeEventData(undefined), null)
  assert.equal(writeEventData(null), null)
  for (const data of [0, -1.5, false, '', 'ü😀', [], {}, [null], { a: { b: [1, 'x'] } }]) {
    assert.equal(writeEventData(data), JSON.stringify(data))
  }
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (data) => {
      const json = JSON.stringify(data)
      const isFine = Buffer.byteLength(json) <= maxDataBytes && !/\\u0000|\\ud[89a-f]/.test(json)
      if (isFine) assert.equal(writeEventData(data), data === null ? null : json)
      else assert.throws(() => writeEventData(data), { kind: 'invalid' })
    }),
  )
})

test('data that is too long, too deep or not to be given back is refused', () => {
  const nest = (levels: number) => JSON.parse('['.repeat(levels) + ']'.repeat(levels)) as unknown
  assert.equal(writeEventData('x'.repeat(maxDataBytes - 2))?.length, maxDataBytes)
  assert.equal(writeEventData('ü'.repeat(maxDataBytes / 2 - 1))?.length, maxDataBytes / 2 + 1)
  assert.equal(writeEventData(nest(16)), '['.repeat(16) + ']'.repeat(16))
  const refused: [unknown, RegExp][] = [
    ['x'.repeat(maxDataBytes - 1), /more than 4096 bytes/],
    ['ü'.repeat(maxDataBytes / 2), /more than 4096 bytes/],
    ['😀'.repeat(maxDataBytes / 4), /more than 4096 bytes/],
    [nest(17), /no deeper than 16/],
    [{ a: ['\ud800'] }, /Not a valid string/],
    [{ '\udc00': 1 }, /Not a valid string/],
    ['a\0b', /Null characters/],
    [{ 'a\0': 1 }, /Null characters/],
    [JSON.parse('{"a":1e400}'), /valid number/],
  ]
  for (const [data, message] of refused) {
    assert.throws(
      () => writeEventData(data),
      ({ kind, fields }: AppError) => kind === 'invalid' && message.test(String(fields?.data)),
      `${message}`,
    )
  }
})

test('an event occurred now, at any time before, or at most a day ahead', () => {
  assert.equal(getOccurredAt(undefined, nowMs), nowMs)
  assert.equal(getOccurredAt('1970-01-01T00:00:00Z', nowMs), 0)
  assert.equal(getOccurredAt('0001-01-01T00:00:00Z', nowMs), Date.parse('0001-01-01T00:00:00Z'))
  assert.equal(getOccurredAt('2030-01-02T00:00:00Z', nowMs), nowMs + dayMs)
  for (const text of ['2030-01-02T00:00:01Z', '9999-12-31T23:59:59Z', '2030-02-30T00:00:00Z', 'yesterday', '']) {
    assert.throws(() => getOccurredAt(text, nowMs), { kind: 'invalid', message: /^occurred_at: / }, text)
  }
})

test('categories are words for programs', () => {
  for (const text of ['generic', 'a', '_', '0', 'x'.repeat(64)]) assert.ok(isCategory(text), text)
  for (const text of ['', 'A', 'a-b', 'ä', 'a\n', '\na', 'x'.repeat(65)]) assert.ok(!isCategory(text), text)
})

test('the parts of a range are all of it, newest first, and nothing twice', () => {
  const time = fc.option(fc.integer({ min: -3 * dayMs, max: 3 * dayMs }), { nil: undefined })
  const instant = fc.integer({ min: -5 * dayMs, max: 5 * dayMs })
  fc.assert(
    fc.property(time, time, fc.boolean(), instant, (startMs, endMs, isFloored, anyMs) => {
      if (startMs !== undefined && endMs !== undefined && startMs >= endMs) return
      const atMs = isFloored ? Math.floor(anyMs / dayMs) * dayMs : anyMs
      const parts = splitDays({ startMs, endMs }).map((part) =>
        part.kind === 'edge'
          ? [part.startMs, part.endMs]
          : [(part.fromDay ?? -1e9) * dayMs, (part.toDay ?? 1e9) * dayMs],
      ) as [number, number][]
      for (const [from, to] of parts) assert.ok(from < to)
      for (const [i, part] of parts.entries()) if (i > 0) assert.equal(part[1], parts[i - 1]![0])
      const isInside = (startMs === undefined || atMs >= startMs) && (endMs === undefined || atMs < endMs)
      assert.equal(parts.filter(([from, to]) => atMs >= from && atMs < to).length, isInside ? 1 : 0)
    }),
  )
})

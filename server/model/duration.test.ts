import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseDurationMs } from './duration.ts'

test('ISO 8601 durations in weeks, days, hours, minutes and seconds', () => {
  const hour = 3_600_000
  const cases: [string, number][] = [
    ['P7D', 168 * hour],
    ['P1W', 168 * hour],
    ['PT12H', 12 * hour],
    ['P1DT12H30M', 36.5 * hour],
    ['PT90S', 90_000],
    ['P36525D', 36_525 * 24 * hour],
  ]
  for (const [text, ms] of cases) assert.equal(parseDurationMs(text), ms, text)
})

test('anything else, nothing, and more than 100 years are refused', () => {
  const cases = [
    '',
    'P',
    'PT',
    'P7',
    '7D',
    'P0D',
    'PT0S',
    '-P7D',
    'P7D ',
    'p7d',
    'P1Y',
    'P1M',
    'P1W1D',
    'P36526D',
    'P1.5D',
    'P1DT',
  ]
  const reasons: [string, RegExp][] = [
    ['P0D', /no time at all/],
    ['P1000000Y', /years or months/],
    ['P365000000D', /longer than 100 years/],
    ['forever', /not a duration.*P7D/],
  ]
  for (const [text, reason] of reasons) assert.throws(() => parseDurationMs(text), reason)
  for (const text of cases) assert.throws(() => parseDurationMs(text), { kind: 'invalid' }, text)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { syntheticFormat } from '../../../test/support/media/synthetic-frames.ts'
import { AppError } from '../../base/error.ts'
import { writeInitSegment } from './init-segment.ts'
import { parseTimescales } from './timescale.ts'

const init = writeInitSegment(syntheticFormat({ audioSampleRate: 44100 }))

test('the timescales of an initialization section are parsed', () => {
  assert.deepEqual(
    parseTimescales(init),
    new Map([
      [1, 90_000],
      [2, 44_100],
    ]),
  )
  assert.deepEqual(parseTimescales(writeInitSegment(syntheticFormat())), new Map([[1, 90_000]]))
})

test('a damaged initialization section is either parsed or reported as corrupt', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(init.length - 1), fc.nat(255)), { maxLength: 4 }),
      fc.nat(init.length),
      (damage, cut) => {
        const bytes = init.slice(0, cut)
        for (const [at, value] of damage) if (at < cut) bytes[at] = value
        try {
          parseTimescales(bytes)
        } catch (error) {
          assert.ok(error instanceof AppError && error.kind === 'corrupt', String(error))
        }
      },
    ),
  )
})

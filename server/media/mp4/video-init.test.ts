import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeInitSegment } from './describe-init.ts'
import { writeInitSegment } from './init-segment.ts'
import { syntheticFormat } from './synthetic-frames.ts'
import { parseTimescales } from './timescale.ts'
import { writeVideoInit } from './video-init.ts'

test('what remains is what a file without audio begins with, but for the number of the next track', () => {
  const withAudio = writeInitSegment(syntheticFormat({ audioSampleRate: 16000 }))
  const without = writeInitSegment(syntheticFormat())
  const pictures = writeVideoInit(withAudio)
  assert.equal(pictures.length, without.length)
  assert.deepEqual(describeInitSegment(pictures), describeInitSegment(without))
  assert.deepEqual([...parseTimescales(pictures)], [[1, 90_000]])
  assert.deepEqual(writeVideoInit(without), without)
})

test('a damaged one is corrupt', () => {
  const init = writeInitSegment(syntheticFormat({ audioSampleRate: 16000 }))
  const moov = Buffer.from(init).indexOf('moov')
  // A box inside runs over the end of its parent.
  new DataView(init.buffer).setUint32(moov + 4, 10_000)
  assert.throws(() => writeVideoInit(init), { kind: 'corrupt' })
})

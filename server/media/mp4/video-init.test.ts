import assert from 'node:assert/strict'
import { test } from 'node:test'
import { syntheticFormat } from '../../../test/support/media/synthetic-frames.ts'
import { describeInitSegment } from './describe-init.ts'
import { writeInitSegment } from './init-segment.ts'
import { parseTimescales } from './timescale.ts'
import { writeVideoInit } from './video-init.ts'

test('the result equals the initialization section of a file without audio, except for the next track id', () => {
  const withAudio = writeInitSegment(syntheticFormat({ audioSampleRate: 16000 }))
  const without = writeInitSegment(syntheticFormat())
  const videoInit = writeVideoInit(withAudio)
  assert.equal(videoInit.length, without.length)
  assert.deepEqual(describeInitSegment(videoInit), describeInitSegment(without))
  assert.deepEqual([...parseTimescales(videoInit)], [[1, 90_000]])
  assert.deepEqual(writeVideoInit(without), without)
})

test('a damaged initialization section is reported as corrupt', () => {
  const init = writeInitSegment(syntheticFormat({ audioSampleRate: 16000 }))
  const moov = Buffer.from(init).indexOf('moov')
  // A child box extends beyond the end of its parent.
  new DataView(init.buffer).setUint32(moov + 4, 10_000)
  assert.throws(() => writeVideoInit(init), { kind: 'corrupt' })
})

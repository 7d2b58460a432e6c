import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ByteBudget } from '../base/byte-budget.ts'
import { HlsWindow } from './hls-window.ts'
import type { LiveChunk } from './live-chunk.ts'

const chunk = (kind: 'init' | 'media', bytes: number, isKey: boolean): LiveChunk => ({
  kind,
  isKey,
  wallMs: 1_800_000_000_000,
  durationMs: kind === 'media' ? 1000 : 0,
  data: new Uint8Array(bytes),
})

test('a segment that grows beyond its limit is dropped, and the next key frame begins another', () => {
  const budget = new ByteBudget(1e6)
  const window = new HlsWindow({
    ...{ firstSequence: 1, firstDiscontinuitySequence: 0, minSegmentMs: 1000, maxSegmentMs: 60_000 },
    ...{ listedSegments: 6, lateSegments: 6, maxSegmentBytes: 1000, maxBytes: 1e6, budget },
  })
  window.add(chunk('init', 10, false))
  window.add(chunk('media', 400, true))
  window.add(chunk('media', 400, false))
  window.add(chunk('media', 400, false))
  assert.equal(window.bytes, 0)
  // Nothing can be decoded before the next key frame.
  window.add(chunk('media', 400, false))
  assert.deepEqual([window.bytes, window.listedCount], [0, 0])
  window.add(chunk('media', 400, true))
  window.add(chunk('media', 400, true))
  assert.equal(window.listedCount, 1)
  assert.match(window.playlist((name) => name), /#EXTINF:1\.0+,\n1\.m4s/) // biome-ignore format: one line
  window.close()
  assert.ok(budget.take(1e6), 'all bytes are given back')
})

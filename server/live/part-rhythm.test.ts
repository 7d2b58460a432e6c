import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '../../test/fake-camera/scene/random.ts'
import { minSegmentMs } from './live-chunk.ts'
import { PartRhythm, shortestShare } from './part-rhythm.ts'

/** A minute of a camera. `groupS`: seconds between key frames. */
function cut(framesPerSecond: number, { groupS = 2, jitter = 0, changeTo = framesPerSecond } = {}) {
  const random = createRandom(framesPerSecond)
  const rhythm = new PartRhythm(minSegmentMs)
  rhythm.startRun()
  const parts: { ms: number; endsSegment: boolean }[] = []
  let start: number | undefined
  let keyDue = 0
  let at = 0
  while (at < 60) {
    const isKey = at >= keyDue
    if (isKey) keyDue += groupS
    const dts90k = Math.round((at + (random() * jitter) / framesPerSecond) * 90_000)
    if (rhythm.next({ dts90k, isKey })) {
      if (start !== undefined) parts.push({ ms: (dts90k - start) / 90, endsSegment: isKey })
      start = dts90k
    }
    at += 1 / (at < 30 ? framesPerSecond : changeTo)
  }
  return { parts, targetMs: rhythm.targetMs }
}

test('parts are never longer than their target, and only the last of a segment is much shorter', () => {
  for (const framesPerSecond of [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 12.5, 15, 20, 24, 25, 29.97, 30, 50, 60]) {
    for (const groupS of [0.5, 1, 2, 2.4, 10]) {
      const { parts, targetMs } = cut(framesPerSecond, { groupS })
      assert.ok(targetMs && targetMs >= 1000 / 3 && targetMs <= Math.max(525, 1055 / framesPerSecond), `${targetMs} ms`)
      assert.ok(parts.length > 50)
      for (const { ms, endsSegment } of parts) {
        const text = `${framesPerSecond} frames/s, ${groupS} s: ${ms} of ${targetMs} ms`
        assert.ok(ms <= targetMs, text)
        assert.ok(endsSegment || ms >= shortestShare * targetMs, text)
      }
    }
  }
})

test('timestamps that vary, and a camera that changes its rate, do not make parts longer than the target', () => {
  for (const framesPerSecond of [12.5, 15, 25, 30]) {
    const { parts, targetMs } = cut(framesPerSecond, { jitter: 0.3 })
    const long = parts.filter(({ ms }) => ms > targetMs!)
    assert.ok(long.length <= parts.length / 30, `${long.length} of ${parts.length} at ${framesPerSecond} frames/s`)
  }
  for (const changeTo of [7, 10, 20]) {
    const { parts, targetMs } = cut(25, { changeTo })
    assert.ok(parts.filter(({ ms }) => ms > targetMs!).length <= 1)
  }
})

test('a camera with less than a frame a second has no parts', () => {
  assert.deepEqual(cut(0.5, { groupS: 4 }), { parts: [], targetMs: undefined })
})

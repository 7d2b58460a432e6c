// Where a file ends, whatever ends it: losses of packets and failures of the disk are drawn, in every order.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '../../test/fake-camera/scene/random.ts'
import { type Clock, systemClock } from '../base/clock.ts'
import type { Frame } from '../media/frame.ts'
import { syntheticFormat } from '../media/mp4/synthetic-frames.ts'
import { createRecorder, settle, TroubledDisk, take } from './test-recorder.ts'

/** A frame that stands before a loss stays for so long at most: a longer loss is a hole. */
const maxStandMs = 1000
const frameMs = 40

for (const seed of [1, 2, 3, 4]) {
  test(`a file ends at most a second after its last frame, and no frame is recorded twice (seed ${seed})`, async () => {
    const random = createRandom(seed)
    const disk = new TroubledDisk()
    let now = 0
    const clock: Clock = { ...systemClock, monotonicMs: () => now }
    const { recorder, events } = createRecorder({ disk, clock, random, segmentMs: 20_000 })
    recorder.push({ kind: 'start', runId: 'a', format: syntheticFormat() })
    const pushed: Frame[] = []
    let lostUntilMs = 0
    let awaitsKey = false
    let failsUntilMs = 0
    for (const frame of take({ gopFrames: 10 + Math.floor(random() * 60) }, 240)) {
      now = frame.dts90k / 90
      if (random() < 0.006) lostUntilMs = now + random() * 1500
      if (now < lostUntilMs) {
        awaitsKey = true
        // The disk often fails while frames are missing: that is the case which a uniform draw would hardly meet.
        if (random() < 0.02) failsUntilMs = now + random() * 6000
        continue
      }
      if (awaitsKey && !frame.isKey) continue
      if (random() < 0.001) failsUntilMs = now + random() * 6000
      disk.failure = now < failsUntilMs ? 'ENOSPC' : undefined
      const next = awaitsKey ? { ...frame, isAfterLoss: true } : frame
      awaitsKey = false
      recorder.push(next)
      pushed.push(next)
      if (frame.isKey) await settle(recorder)
    }
    await recorder.close()
    const failed = events.gaps.filter((reason) => reason === 'disk_full').length
    assert.ok(failed > 3, `the disk failed ${failed} times`)
    let beforeMs = Number.NEGATIVE_INFINITY
    for (const { fragments } of events.files) {
      for (const { startMs, durationMs } of fragments) {
        assert.ok(startMs >= beforeMs - 1, 'it begins before the one before it ends')
        beforeMs = startMs + durationMs
        const inside = pushed.filter(({ wallMs }) => wallMs > startMs - 1 && wallMs < beforeMs - 1)
        const standMs = beforeMs - inside.at(-1)!.wallMs
        assert.ok(standMs <= maxStandMs + 2 * frameMs, `a frame stands for ${standMs} ms`)
      }
    }
  })
}

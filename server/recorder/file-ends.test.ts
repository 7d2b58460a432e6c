// How files end. Packet losses, disk failures, connection losses, new runs and ends of recording are drawn at random in
// every order.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '../../test/fake-camera/scene/random.ts'
import { syntheticFormat } from '../../test/support/media/synthetic-frames.ts'
import { createRecorder, EventLog, FaultyDisk, settle, take } from '../../test/support/recorder/temporary-recorder.ts'
import { type Clock, systemClock } from '../base/clock.ts'
import type { Frame } from '../media/frame.ts'

/** The maximum display time of a frame before a loss. A longer loss is a hole. */
const maxDisplayMs = 1000
const frameMs = 40

for (const seed of [1, 2, 3, 4]) {
  test(`a file ends at most a second after its last frame, and no frame is recorded twice (seed ${seed})`, async () => {
    const random = createRandom(seed)
    const disk = new FaultyDisk()
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
        // The disk often fails while frames are missing, which would rarely occur with uniform probability.
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
    checkEnds(events, pushed)
  })

  test(`the gap begins at the last frame, whatever ends the recording while frames are missing (seed ${seed})`, async () => {
    const random = createRandom(seed)
    let { recorder, events } = createRecorder({ random, segmentMs: 20_000 })
    const all = new EventLog()
    const pushed: Frame[] = []
    const ended = new Map<string, number>()
    let runs = 0
    let awaitsKey = true
    let lostUntilMs = 0
    let awayUntilMs = 0
    const startRun = (values: { readonly clockSetMs?: number } = {}) => {
      awaitsKey = true
      recorder.push({ kind: 'start', runId: `run-${runs++}`, format: syntheticFormat(), ...values })
    }
    const ends: Record<string, () => Promise<void>> = {
      camera_unreachable: async () => recorder.push({ kind: 'end', reason: 'camera_unreachable' }),
      stream_changed: async () => startRun(),
      clock_set: async () => startRun({ clockSetMs: 5000 }),
      stopped_by_user: async () => {
        await recorder.close('stopped_by_user')
        all.files.push(...events.files)
        const next = createRecorder({ random, segmentMs: 20_000, startReason: 'stopped_by_user' })
        recorder = next.recorder
        events = next.events
      },
    }
    startRun()
    let isAway = false
    for (const frame of take({ gopFrames: 10 + Math.floor(random() * 60) }, 400)) {
      const now = frame.dts90k / 90
      if (random() < 0.01) lostUntilMs = now + random() * 1500
      const isLost = now < lostUntilMs
      // Ends are drawn mostly while frames are missing and directly afterwards.
      if (!isAway && random() < (pushed.at(-1)?.isAfterLoss ? 0.2 : isLost || awaitsKey ? 0.02 : 0.001)) {
        const reason = Object.keys(ends)[Math.floor(random() * 4)]!
        const filesBefore = events.files.length
        await ends[reason]!()
        if (filesBefore > 0) ended.set(reason, (ended.get(reason) ?? 0) + 1)
        isAway = reason === 'camera_unreachable' || reason === 'stopped_by_user'
        awayUntilMs = now + random() * 4000
      }
      if (isAway && now >= awayUntilMs) {
        isAway = false
        startRun()
      }
      if (isLost || isAway) awaitsKey = true
      if (isLost || isAway || (awaitsKey && !frame.isKey)) continue
      const next = awaitsKey ? { ...frame, isAfterLoss: true } : frame
      awaitsKey = false
      recorder.push(next)
      pushed.push(next)
      if (frame.isKey) await settle(recorder)
    }
    await recorder.close()
    all.files.push(...events.files)
    assert.equal(ended.size, 4, `ends: ${[...ended]}`)
    const recorded = checkEnds(all, pushed)
    assert.equal(recorded, pushed.length, 'every received frame is recorded')
    const reasons = new Set(all.files.map(({ segment }) => segment.gapReason))
    for (const [i, { segment }] of all.files.entries()) {
      const before = all.files[i - 1]?.fragments.at(-1)
      if (!before || !(segment.gapReason !== undefined && segment.gapReason in ends)) continue
      const endMs = before.startMs + before.durationMs
      const lastMs = pushed.findLast(({ wallMs }) => wallMs < segment.startMs - 1)!.wallMs
      assert.ok(endMs - lastMs <= 2 * frameMs + 1, `the last frame is displayed for ${endMs - lastMs} ms`)
      assert.ok(endMs > lastMs, 'the last frame is recorded')
    }
    // Frames that were lost just before a change of the stream are missing for their own reason.
    const firstOfRun = all.files.filter(({ segment }, i) => segment.runId !== all.files[i - 1]?.segment.runId)
    if (firstOfRun.some(({ segment }) => segment.gapReason === 'packet_loss')) reasons.add('stream_changed')
    for (const reason of Object.keys(ends)) assert.ok(reasons.has(reason), `no file after ${reason}`)
  })
}

/** Returns how many frames are recorded. */
function checkEnds({ files }: EventLog, pushed: readonly Frame[]): number {
  let beforeMs = Number.NEGATIVE_INFINITY
  let recorded = 0
  for (const { startMs, durationMs } of files.flatMap(({ fragments }) => fragments)) {
    assert.ok(startMs >= beforeMs - 1, 'a file begins before the previous one ends')
    beforeMs = startMs + durationMs
    const inside = pushed.filter(({ wallMs }) => wallMs > startMs - 1 && wallMs < beforeMs - 1)
    recorded += inside.length
    const displayMs = beforeMs - inside.at(-1)!.wallMs
    assert.ok(displayMs <= maxDisplayMs + 2 * frameMs, `a frame is displayed for ${displayMs} ms`)
  }
  return recorded
}

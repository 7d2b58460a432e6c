import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { openScriptedCamera } from '../../../test/support/ingest/scripted-camera.ts'
import { watchCamera } from '../../../test/support/ingest/watch-camera.ts'
import { systemClock } from '../../base/clock.ts'
import { createCameraStats } from '../frames/camera-stats.ts'
import { type EndedConnection, ReconnectPauses } from './reconnect-pause.ts'

const lost = (onlineMs: number): EndedConnection => ({ reason: 'camera_unreachable', onlineMs })

/** Simulates a camera whose connections are set up within `connectMs` and last `onlineMs`. */
function simulate({ onlineMs, connectMs = 300, forMs }: { onlineMs: number; connectMs?: number; forMs: number }) {
  const pauses = new ReconnectPauses(() => 1)
  let nowMs = 0
  let recordedMs = 0
  let connections = 0
  for (; nowMs < forMs; connections++) {
    const endMs = Math.min(forMs, nowMs + connectMs + onlineMs)
    recordedMs += Math.max(0, endMs - nowMs - connectMs)
    nowMs = endMs + pauses.next(lost(onlineMs)).delayMs
  }
  return { share: recordedMs / forMs, connections }
}

test('sessions of less than a minute are recorded almost without pauses', () => {
  const forMs = 561_000
  const shares = [50_000, 20_000, 5000, 1000].map((onlineMs) => simulate({ onlineMs, forMs }).share)
  assert.ok(shares[0]! > 0.99, `${shares[0]} of sessions of 50 s`)
  assert.ok(shares[1]! > 0.98, `${shares[1]} of sessions of 20 s`)
  // The rest is the time for connecting.
  assert.ok(shares[2]! > 0.94, `${shares[2]} of sessions of 5 s`)
  assert.ok(shares[3]! > 0.76, `${shares[3]} of sessions of 1 s`)
})

test('a camera that sends a single frame and disconnects is not contacted continuously', () => {
  for (const onlineMs of [1, 40, 500, 999]) {
    const { connections } = simulate({ onlineMs, connectMs: 20, forMs: 600_000 })
    assert.ok(connections > 90 && connections < 130, `${connections} in ten minutes`)
  }
})

test('pauses after frames are short and attempts stay rare, whatever a camera does', () => {
  const session = fc.record({
    onlineMs: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 2000 }), fc.integer({ min: 1, max: 200_000 })),
    reason: fc.constantFrom('camera_unreachable', 'no_frames', 'auth_failed', 'stream_changed', undefined),
    isFault: fc.boolean(),
  })
  const property = fc.property(
    fc.array(session, { maxLength: 200 }),
    fc.double({ min: 0, max: 1, noNaN: true }),
    (ended, random) => {
      const pauses = new ReconnectPauses(() => random)
      let brief = 0
      for (const { reason, onlineMs, isFault } of ended as EndedConnection[]) {
        const { delayMs, isLockedOut } = pauses.next({ reason, onlineMs, isFault: isFault ?? false })
        brief = onlineMs > 0 && onlineMs < 1000 ? brief + 1 : 0
        assert.ok(isLockedOut ? delayMs >= 60_000 && delayMs <= 1_800_000 : delayMs <= 15_000)
        if (reason === undefined || reason === 'auth_failed' || isFault) continue
        if (onlineMs === 0) assert.ok(delayMs >= 500, `${delayMs} ms after a failure`)
        else if (onlineMs >= 1000) assert.equal(delayMs, 0)
        else assert.ok(delayMs <= 5000 && (brief < 2 || delayMs >= 500), `${delayMs} ms after ${brief} brief sessions`)
      }
    },
  )
  fc.assert(property, { numRuns: 500 })
})

test('pauses are short again after frames, except after an internal failure', () => {
  const pauses = new ReconnectPauses(() => 1)
  const failed = () => pauses.next(lost(0)).delayMs
  assert.deepEqual([failed(), failed(), failed(), failed()], [1000, 2000, 4000, 8000])
  assert.equal(pauses.next(lost(10_000)).delayMs, 0)
  assert.deepEqual([failed(), failed()], [1000, 2000])
  assert.equal(pauses.next({ ...lost(10_000), isFault: true }).delayMs, 4000)
  assert.equal(pauses.next({ ...lost(60_000), isFault: true }).delayMs, 0)
})

test('a password that is refused between sessions is not tried more often than before', () => {
  const pauses = new ReconnectPauses(() => 1)
  const refused = (onlineMs: number) => pauses.next({ reason: 'auth_failed', onlineMs })
  assert.deepEqual([5000, 5000, 5000].map(refused), [
    { delayMs: 1000, isLockedOut: false },
    { delayMs: 2000, isLockedOut: false },
    { delayMs: 4000, isLockedOut: false },
  ])
  assert.deepEqual([0, 0].map(refused), [
    { delayMs: 120_000, isLockedOut: true },
    { delayMs: 240_000, isLockedOut: true },
  ])
})

test('a camera that ends each session after 50 s is online nearly all the time and never reported offline', async () => {
  let aheadMs = 0
  let onlineMs = 0
  const clock = {
    nowMs: () => Date.now() + aheadMs,
    monotonicMs: () => performance.now() + aheadMs,
    /**
     * Pauses end at once. All other waits are timeouts, which never expire with a camera that responds.
     */
    sleep: (ms: number, signal?: AbortSignal) => {
      if ([500, 2000, 2500, 5000, 10_000].includes(ms)) return systemClock.sleep(ms, signal)
      aheadMs += ms
      return Promise.resolve()
    },
  }
  const stats = createCameraStats()
  await using camera = await openScriptedCamera({
    play: (sender) => {
      const beginTicks = aheadMs * 90
      for (let i = 0; i < 5; i++) setTimeout(() => sender.sendFrame(beginTicks + i * 3600, i === 0), i * 40)
      const { connections } = stats
      const timer = setInterval(() => {
        if (stats.connections === connections) return
        clearInterval(timer)
        aheadMs += 50_000
        onlineMs += 50_000
        sender.socket.end()
      }, 5)
    },
  })
  const startMs = clock.monotonicMs()
  const isDone = () => stats.connections > 11
  const { statuses } = await watchCamera({ url: camera.url }, isDone, { clock, stats, random: () => 1 })
  assert.equal(stats.connections, 12)
  const share = onlineMs / (clock.monotonicMs() - startMs)
  assert.ok(share > 0.98, `${share} of the time`)
  assert.deepEqual(
    statuses.map(({ state }) => state),
    ['connecting', 'online'],
  )
})

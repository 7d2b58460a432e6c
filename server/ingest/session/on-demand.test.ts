import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openScriptedCamera, type Sender } from '../../../test/support/ingest/scripted-camera.ts'
import { hastyClock, timesOf, watchCamera } from '../../../test/support/ingest/watch-camera.ts'
import { type Clock, systemClock } from '../../base/clock.ts'
import type { HubItem } from '../../hub/hub-item.ts'
import { Demand } from './demand.ts'

/** Sends frames at the speed of the hasty clock until the connection ends. */
function play(sender: Sender): void {
  let i = 0
  const send = () => sender.sendFrame(1_000_000 + i * 3600 * 10, i++ % 5 === 0)
  const timer = setInterval(send, 10)
  sender.socket.on('close', () => clearInterval(timer))
  send()
}

const count = (items: readonly HubItem[], kind: string) => items.filter((item) => item.kind === kind).length

test('a camera that is not needed is connected briefly every minute, and its status does not change', async () => {
  await using camera = await openScriptedCamera({ play })
  const waits: number[] = []
  const clock: Clock = {
    nowMs: () => hastyClock.nowMs(),
    monotonicMs: () => hastyClock.monotonicMs(),
    sleep(ms, signal) {
      if (ms >= 45_000) waits.push(ms)
      return hastyClock.sleep(ms, signal)
    },
  }
  const { items, statuses, stats, causes } = await watchCamera(
    { url: camera.url },
    (items) => count(items, 'end') === 3,
    { demand: new Demand(false), clock, random: () => 0.5 },
  )
  assert.deepEqual(waits, [60_000, 60_000])
  assert.deepEqual(
    statuses.map(({ state }) => state),
    ['connecting', 'online'],
  )
  assert.equal(stats.connections, 3)
  assert.deepEqual(causes, [], 'no loss is reported')
  assert.equal(camera.requests.filter((request) => request.startsWith('TEARDOWN')).length, 3)
  const ends = items.filter(({ kind }) => kind === 'end')
  assert.deepEqual(ends[0], { kind: 'end', reason: 'stopped_by_user' })
  assert.ok(timesOf(items, 'video').length > 3, 'frames for a snapshot arrived')
})

test('the first viewer ends the pause, and the connection lasts a little longer than the last viewer', async () => {
  await using camera = await openScriptedCamera({ play })
  const demand = new Demand(false)
  // The next check is a minute away by the system clock, everything else is hasty.
  const clock: Clock = {
    nowMs: () => hastyClock.nowMs(),
    monotonicMs: () => hastyClock.monotonicMs(),
    sleep: (ms, signal) => (ms >= 45_000 ? systemClock : hastyClock).sleep(ms, signal),
  }
  let watchedMs = 0
  let unwatchedMs = 0
  let endedMs = 0
  await watchCamera(
    { url: camera.url },
    (items) => {
      const ends = count(items, 'end')
      if (ends === 1 && count(items, 'start') === 1 && watchedMs === 0) {
        watchedMs = performance.now()
        // The demand must not change while an item is being published.
        setImmediate(() => demand.set(true))
      }
      const isSeen = count(items, 'start') === 2
      if (isSeen && unwatchedMs === 0) {
        unwatchedMs = performance.now() + 1000
        setTimeout(() => demand.set(false), 1000)
      }
      if (ends === 2) endedMs = performance.now()
      return ends === 2
    },
    { demand, clock },
  )
  assert.ok(unwatchedMs - 1000 - watchedMs < 30_000, 'the camera is connected before the next check')
  assert.ok(endedMs >= unwatchedMs + 200, 'the connection lasts forty seconds of watching by this clock, and ten more')
})

test('a viewer does not trigger another attempt with a refused password', async () => {
  await using camera = await openScriptedCamera({
    answer: () => ({ status: 401, headers: [['WWW-Authenticate', 'Basic realm="x"']] }),
  })
  const demand = new Demand(false)
  const waits: number[] = []
  const enough = new AbortController()
  const sleep: Clock['sleep'] = (ms, signal) => {
    if (ms >= 45_000) {
      waits.push(ms)
      if (waits.length === 2) setTimeout(() => demand.set(true), 10)
      if (waits.length === 3) enough.abort()
    }
    return systemClock.sleep(ms >= 45_000 ? 200 : ms, signal)
  }
  await watchCamera({ url: camera.url, username: 'a', password: 'wrong' }, () => false, {
    demand,
    clock: { ...systemClock, sleep },
    signal: enough.signal,
  })
  assert.equal(waits[0], 45_000)
  assert.equal(waits[1], 60_000, 'the pause after the second refusal')
  assert.ok(waits[2]! >= 120_000, 'the viewer who came during the pause did not end it')
  assert.ok(camera.requests.length <= 2 * (waits.length + 1))
})

test('an unreachable camera is checked every minute while nobody watches, and at once for a viewer', async () => {
  const demand = new Demand(false)
  let [attempts, pauses] = [0, 0]
  const enough = new AbortController()
  // Only the viewer ends the second long pause.
  const sleep: Clock['sleep'] = (ms, signal) =>
    ms >= 45_000 && ++pauses === 2 ? systemClock.sleep(3_600_000, signal) : hastyClock.sleep(ms, signal)
  await watchCamera({ url: 'rtsp://127.0.0.1:1/x' }, () => false, {
    demand,
    clock: { nowMs: () => hastyClock.nowMs(), monotonicMs: () => hastyClock.monotonicMs(), sleep },
    signal: enough.signal,
    addressGuard: {
      resolve: async () => {
        attempts++
        if (attempts === 2) setTimeout(() => demand.set(true), 100)
        if (attempts === 4) enough.abort()
        return { address: '127.0.0.1', family: 4, isPublic: false }
      },
    },
  })
  assert.equal(attempts, 4, 'the viewer ended the pause')
  assert.equal(pauses, 2, 'later pauses are those of a camera that is needed')
})

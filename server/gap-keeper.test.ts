import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLogger } from './base/log.ts'
import { GapKeeper } from './gap-keeper.ts'
import type { GapReason } from './hub/hub-item.ts'
import type { GapMark } from './model/timeline.ts'

/** A store of one camera in memory, and a clock that is moved by hand. */
function open({ marks = [], footage }: { marks?: GapMark[]; footage?: { startMs: number; endMs: number } } = {}) {
  const time = { ms: 1_000_000 }
  const state = { isRecorded: true, footage }
  let wake = () => {}
  const keeper = new GapKeeper({
    marks: {
      add: async (_, mark) => void marks.push(mark),
      list: async (_, startMs, endMs) => {
        const before = marks.findLast(({ atMs }) => atMs <= startMs)
        return [...(before ? [before] : []), ...marks.filter(({ atMs }) => atMs > startMs && atMs <= endMs)]
      },
      removeBefore: async (_, beforeMs) => {
        const kept = marks.findLastIndex(({ atMs }) => atMs <= beforeMs)
        marks.splice(0, Math.max(0, kept))
      },
    },
    clock: {
      nowMs: () => time.ms,
      monotonicMs: () => time.ms,
      sleep: () =>
        new Promise((resolve) => {
          wake = resolve
        }),
    },
    log: silentLogger,
    isRecorded: () => state.isRecorded,
    findFootage: async () => state.footage,
  })
  const stop = new AbortController()
  const running = keeper.run(stop.signal)
  const settled = () => new Promise<void>((resolve) => setImmediate(resolve))
  return {
    keeper,
    marks,
    state,
    async pass(ms: number) {
      time.ms += ms
      wake()
      await settled()
    },
    gap: (reason: GapReason | undefined) => keeper.take({ type: 'recording_gap', cameraId: 1, atMs: time.ms, reason }),
    offline: (reason: GapReason) =>
      keeper.take({
        type: 'camera_status',
        cameraId: 1,
        status: { state: 'offline', reason, trouble: 'failed', detail: '' },
      }),
    async end() {
      stop.abort()
      wake()
      await running
    },
  }
}

const reasons = (marks: readonly GapMark[]) => marks.map(({ reason }) => reason)

test('a gap that lasts is written with each of its reasons, and its end', async () => {
  const { gap, offline, pass, marks, end } = open({ footage: { startMs: 0, endMs: 1_000_000 } })
  gap('server_down')
  await pass(500)
  gap(undefined)
  await pass(60_000)
  gap('no_frames')
  await pass(1000)
  offline('camera_unreachable')
  offline('camera_unreachable')
  await pass(3600_000)
  offline('auth_failed')
  await pass(5000)
  gap(undefined)
  await pass(5000)
  assert.deepEqual(reasons(marks), [
    ...['server_down', undefined, 'no_frames', 'camera_unreachable', 'auth_failed', undefined],
  ])
  assert.deepEqual(
    marks.map(({ atMs }) => atMs - 1_000_000),
    [0, 500, 60_500, 61_500, 3_661_500, 3_666_500],
  )
  await end()
})

test('a break that is over in a moment is not written', async () => {
  const { gap, pass, marks, end } = open()
  gap('server_down')
  gap(undefined)
  await pass(10_000)
  const before = marks.length
  for (let i = 0; i < 5; i++) {
    gap('camera_unreachable')
    await pass(1000)
    gap(undefined)
    await pass(20_000)
  }
  assert.equal(marks.length, before)
  await end()
})

test('that a camera is away matters only where it should be recorded and is not', async () => {
  const { gap, offline, pass, marks, state, end } = open()
  offline('camera_unreachable')
  gap('server_down')
  gap(undefined)
  await pass(10_000)
  offline('camera_unreachable')
  await pass(10_000)
  gap('stopped_by_user')
  state.isRecorded = false
  await pass(10_000)
  offline('camera_unreachable')
  await pass(10_000)
  assert.deepEqual(reasons(marks), ['server_down', undefined, 'stopped_by_user'])
  state.isRecorded = true
  offline('camera_unreachable')
  await pass(10_000)
  assert.equal(marks.at(-1)?.reason, 'camera_unreachable')
  await end()
})

test('what is not written yet is listed, and written at the end', async () => {
  const { keeper, gap, pass, marks, end } = open()
  gap('server_down')
  gap(undefined)
  await pass(10_000)
  gap('no_frames')
  assert.deepEqual(reasons(await keeper.list(1, 1_005_000, 2_000_000)), [undefined, 'no_frames'])
  assert.deepEqual(reasons(await keeper.list(1, 0, 2_000_000)), ['server_down', undefined, 'no_frames'])
  await end()
  await keeper.flush()
  assert.equal(marks.at(-1)?.reason, 'no_frames')
})

test('after a start the reason is the one that held, unless there is footage behind it', async () => {
  const footage = { startMs: 0, endMs: 500_000 }
  const lost = { atMs: 500_100, reason: 'camera_unreachable' }
  assert.equal(await open({ marks: [lost], footage }).keeper.findStartReason(1), 'camera_unreachable')
  assert.equal(await open({ marks: [{ ...lost, atMs: 400_000 }], footage }).keeper.findStartReason(1), 'server_down')
  assert.equal(
    await open({ marks: [{ atMs: 1, reason: undefined }], footage }).keeper.findStartReason(1),
    'server_down',
  )
  assert.equal(await open({ footage }).keeper.findStartReason(1), 'server_down')
})

test('marks of before any footage are removed, but for the last', async () => {
  const marks = [100, 200, 300].map((atMs) => ({ atMs, reason: 'no_frames' }))
  const { gap, pass, end } = open({ marks, footage: { startMs: 250, endMs: 1_000_000 } })
  gap('server_down')
  await pass(1)
  await pass(3_600_001)
  assert.deepEqual(
    marks.slice(0, 2).map(({ atMs }) => atMs),
    [200, 300],
  )
  await end()
})

test('a camera that never was recorded does not gather marks', async () => {
  const { gap, offline, pass, marks, end } = open()
  gap('server_down')
  for (let i = 0; i < 100; i++) {
    await pass(60_000)
    offline(i % 2 === 0 ? 'camera_unreachable' : 'auth_failed')
  }
  await pass(3_600_001)
  assert.ok(marks.length < 62, `${marks.length}`)
  assert.equal(marks.at(-1)?.reason, 'auth_failed')
  await end()
})

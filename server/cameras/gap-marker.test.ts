import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { GapReason } from '../../contract/gap-reasons.ts'
import { silentLogger } from '../base/log.ts'
import { SerialQueue } from '../base/serial-queue.ts'
import { compareMarks, type GapMark, listMarks } from '../model/gap-mark.ts'
import { buildTimeline, type Span } from '../model/timeline.ts'
import { GapMarker } from './gap-marker.ts'

type Range = { readonly startMs: number; readonly endMs: number }
type Recorded = Range & { readonly epoch?: number }

/** An in-memory store of one camera, and a clock that is advanced by hand. */
function open({ marks = [], footage, last }: { marks?: GapMark[]; footage?: Range; last?: Recorded } = {}) {
  let answers = Promise.resolve()
  let isRefusing = false
  let reads = 0
  const time = { ms: 1_000_000, setMs: 0 }
  const state: {
    isRecorded: boolean
    footage: Range | undefined
    last: Recorded | undefined
    latestEpoch?: number
  } = {
    ...{ isRecorded: true, footage, last: last ?? footage },
  }
  const marker = new GapMarker({
    marks: {
      add: async (_, { epoch = 0, ...mark }) => {
        await answers
        if (isRefusing) throw new Error('disk I/O error')
        assert.ok(Number.isInteger(mark.atMs), `PostgreSQL takes whole milliseconds, and not ${mark.atMs}`)
        const added = { ...mark, ...(epoch > 0 && { epoch }) }
        const kept = marks.filter((other) => compareMarks(other, added) < 0)
        marks.splice(0, marks.length, ...kept, added)
      },
      findNewest: async () => marks.at(-1),
      list: async (_, startMs, endMs) => listMarks(marks, startMs, endMs),
      removeBefore: async (_, beforeMs, epoch = 0) => {
        const kept = marks.findLastIndex((mark) => compareMarks(mark, { atMs: beforeMs, reason: '', epoch }) <= 0)
        marks.splice(0, Math.max(0, kept))
      },
    },
    clock: {
      nowMs: () => time.ms + time.setMs,
      monotonicMs: () => time.ms + (reads++ % 4) / 16,
      sleep: () => new Promise(() => {}),
    },
    log: silentLogger,
    writes: new SerialQueue(),
    cameraId: 1,
    isRecorded: () => state.isRecorded,
    findFootage: async () => state.footage,
    findLast: async () => state.last && { epoch: 0, ...state.last },
    findLastEpoch: async () => state.latestEpoch ?? state.last?.epoch ?? 0,
  })
  const settled = () => new Promise<void>((resolve) => setImmediate(resolve))
  return {
    marker,
    marks,
    state,
    /** Blocks the store until the returned function is called. */
    stall: () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      answers = promise
      return resolve
    },
    refuse: (isNow: boolean) => {
      isRefusing = isNow
    },
    setClock: (byMs: number) => {
      time.setMs += byMs
    },
    async advance(ms: number) {
      time.ms += ms
      marker.look()
      await settled()
    },
    gap: (reason: GapReason | undefined) => marker.takeGap({ atMs: time.ms + time.setMs, reason }),
    offline: (reason: GapReason) => marker.takeOffline(reason),
  }
}

const reasons = (marks: readonly GapMark[]) => marks.map(({ reason }) => reason)

test('a lasting gap is stored with each of its reasons and its end', async () => {
  const { gap, offline, advance, marks } = open({ footage: { startMs: 0, endMs: 1_000_000 } })
  gap('server_down')
  await advance(500)
  gap(undefined)
  await advance(60_000)
  gap('no_frames')
  await advance(1000)
  offline('camera_unreachable')
  offline('camera_unreachable')
  await advance(3600_000)
  offline('auth_failed')
  await advance(5000)
  gap(undefined)
  await advance(5000)
  assert.deepEqual(reasons(marks), [
    ...['server_down', undefined, 'no_frames', 'camera_unreachable', 'auth_failed', undefined],
  ])
  assert.deepEqual(
    marks.map(({ atMs }) => atMs - 1_000_000),
    [0, 500, 60_500, 61_500, 3_661_500, 3_666_500],
  )
})

test('a break that is over in a moment is not written', async () => {
  const { gap, advance, marks } = open()
  gap('server_down')
  gap(undefined)
  await advance(10_000)
  const before = marks.length
  for (let i = 0; i < 5; i++) {
    gap('camera_unreachable')
    await advance(1000)
    gap(undefined)
    await advance(20_000)
  }
  assert.equal(marks.length, before)
})

test('what waits while the database does not answer has an end, and the newest is true', async () => {
  const { gap, advance, marks, marker, stall } = open()
  const answer = stall()
  for (let i = 0; i < 3000; i++) {
    gap('camera_unreachable')
    await advance(5000)
    gap(undefined)
    await advance(5000)
  }
  gap('auth_failed')
  await advance(5000)
  answer()
  await marker.flush()
  assert.ok(marks.length > 900 && marks.length <= 1002, `${marks.length} marks`)
  assert.equal(marks.at(-1)!.reason, 'auth_failed')
})

test('that a camera is away matters only where it should be recorded and is not', async () => {
  const { gap, offline, advance, marks, state } = open()
  offline('camera_unreachable')
  gap('server_down')
  gap(undefined)
  await advance(10_000)
  offline('camera_unreachable')
  await advance(10_000)
  gap('stopped_by_user')
  state.isRecorded = false
  await advance(10_000)
  offline('camera_unreachable')
  await advance(10_000)
  assert.deepEqual(reasons(marks), ['server_down', undefined, 'stopped_by_user'])
  state.isRecorded = true
  offline('camera_unreachable')
  await advance(10_000)
  assert.equal(marks.at(-1)?.reason, 'camera_unreachable')
})

test('what is not written yet is listed, and written at the end', async () => {
  const { marker, gap, advance, marks } = open()
  gap('server_down')
  gap(undefined)
  await advance(10_000)
  gap('no_frames')
  assert.deepEqual(reasons(await marker.list(1_005_000, 2_000_000)), [undefined, 'no_frames'])
  assert.deepEqual(reasons(await marker.list(0, 2_000_000)), ['server_down', undefined, 'no_frames'])
  await marker.flush()
  assert.equal(marks.at(-1)?.reason, 'no_frames')
})

test('after a start the reason is the one that held, unless there is footage behind it', async () => {
  const footage = { startMs: 0, endMs: 500_000 }
  const lost = { atMs: 500_100, reason: 'camera_unreachable' }
  assert.equal(await open({ marks: [lost], footage }).marker.findStartReason(), 'camera_unreachable')
  assert.equal(await open({ marks: [{ ...lost, atMs: 400_000 }], footage }).marker.findStartReason(), 'server_down')
  assert.equal(await open({ marks: [{ atMs: 1, reason: undefined }], footage }).marker.findStartReason(), 'server_down')
  assert.equal(await open({ footage }).marker.findStartReason(), 'server_down')
})

test('killed soon after a camera came back, the server tells that it was down, not of the outage before', async () => {
  const { gap, offline, advance, marks } = open()
  gap('server_down')
  gap(undefined)
  await advance(10_000)
  gap('camera_unreachable')
  await advance(30_000)
  offline('auth_failed')
  await advance(4000)
  gap(undefined)
  // At the next look, before the first fragment is written.
  await advance(1000)
  assert.deepEqual(reasons(marks), ['server_down', undefined, 'camera_unreachable', 'auth_failed', undefined])
})

test('a mark from before the segment that was recorded last is not why recording has ended', async () => {
  const stale = { atMs: 499_000, reason: 'auth_failed' }
  const footage = { startMs: 0, endMs: 500_000 }
  // Whether the segment was closed, or left open by the kill: then nothing is known of it but its start.
  for (const endMs of [502_000, 500_000]) {
    const last = { startMs: 500_000, endMs }
    assert.equal(await open({ marks: [stale], footage, last }).marker.findStartReason(), 'server_down')
    const held = { ...stale, atMs: 501_900 }
    assert.equal(await open({ marks: [held], footage, last }).marker.findStartReason(), 'auth_failed')
  }
})

test('while the disk refuses one attempt after the other, no marks gather', async () => {
  const { gap, advance, marks } = open()
  gap('disk_failed')
  await advance(5000)
  for (let i = 0; i < 20; i++) {
    gap(undefined)
    gap('disk_failed')
    await advance(30_000)
  }
  assert.deepEqual(reasons(marks), ['disk_failed'])
})

test('a gap that goes on after a moment of footage is told by a mark of its own', async () => {
  const { gap, advance, marks, state } = open({ footage: { startMs: 0, endMs: 1_000_000 } })
  gap('camera_unreachable')
  await advance(5000)
  gap(undefined)
  gap('camera_unreachable')
  state.last = { startMs: 1_004_000, endMs: 1_005_700 }
  await advance(4000)
  assert.deepEqual(reasons(marks), ['camera_unreachable', undefined, 'camera_unreachable'])
})

test('a gap in hours that are recorded for the second time has the reason of its own', async () => {
  const { marker, gap, advance, marks, state, setClock } = open()
  const minute = 60_000
  gap('server_down')
  gap(undefined)
  const startMs = 1_000_000
  await advance(10 * minute)
  gap('stopped_by_user')
  await advance(10 * minute)
  gap(undefined)
  await advance(10 * minute)
  // The clock is set back to the second minute; in the tenth, which was the owner's before, the disk is full.
  const endMs = startMs + 30 * minute
  state.last = { startMs: startMs + 20 * minute, endMs }
  setClock(-28 * minute)
  gap('clock_set')
  gap(undefined)
  const secondMs = startMs + 2 * minute
  state.last = { startMs: secondMs, endMs: secondMs, epoch: 1 }
  await advance(8 * minute)
  state.last = { startMs: secondMs, endMs: secondMs + 8 * minute, epoch: 1 }
  gap('disk_full')
  await advance(4 * minute)
  const mark = marks.at(-1)
  assert.deepEqual(mark, { atMs: startMs + 10 * minute, reason: 'disk_full', epoch: 1 }, 'not behind the first epoch')
  assert.equal(await marker.findStartReason(), 'disk_full')
  gap('server_down')
  await advance(2 * minute)
  gap(undefined)
  const thirdMs = startMs + 16 * minute
  await advance(4 * minute)
  const range = { startMs, endMs: startMs + 40 * minute }
  const spans = [
    { startMs, endMs: startMs + 10 * minute, gapReason: undefined },
    { startMs: startMs + 20 * minute, endMs, gapReason: 'stopped_by_user' },
    { startMs: secondMs, endMs: startMs + 10 * minute, gapReason: 'clock_set', epoch: 1 },
    { startMs: thirdMs, endMs: thirdMs + 4 * minute, gapReason: 'server_down', epoch: 1 },
  ]
  const footage = { startMs, endMs, newest: { epoch: 1, endMs: thirdMs + 4 * minute } }
  const listed = await marker.list(range.startMs, range.endMs)
  const { gaps } = buildTimeline(spans, { ...range, footage, marks: listed, nowMs: thirdMs + 4 * minute })
  const reported = gaps.map(({ startMs: fromMs, endMs: toMs, reason }) => [
    Math.floor((fromMs - startMs) / minute),
    Math.floor((toMs - startMs) / minute),
    reason,
  ])
  assert.deepEqual(reported, [
    [10, 20, 'stopped_by_user'],
    [30, 30, 'clock_set'],
    [10, 14, 'disk_full'],
    [14, 16, 'server_down'],
  ])
})

test('a gap is told though the disk lost the only footage since the clock was set back', async () => {
  const { marker, gap, advance, marks, state, setClock } = open({ last: { startMs: 900_000, endMs: 1_000_000 } })
  setClock(-20_000)
  // What was recorded by the new time was lost: its epoch has no footage.
  state.latestEpoch = 1
  await advance(6_000)
  gap('disk_failed')
  await advance(30_000)
  gap(undefined)
  await advance(4_000)
  assert.deepEqual(marks, [
    { atMs: 986_000, reason: 'disk_failed', epoch: 1 },
    { atMs: 1_016_000, reason: undefined, epoch: 1 },
  ])
  const spans = [
    { startMs: 900_000, endMs: 1_000_000, gapReason: undefined },
    { startMs: 1_016_000, endMs: 1_020_000, gapReason: undefined, epoch: 1 },
  ]
  const range = { startMs: 900_000, endMs: 1_030_000 }
  const footage = { startMs: 900_000, endMs: 1_020_000, newest: { epoch: 1, endMs: 1_020_000 } }
  const listed = await marker.list(range.startMs, range.endMs)
  assert.deepEqual(buildTimeline(spans, { ...range, footage, marks: listed, nowMs: 1_020_000 }).gaps, [
    { startMs: 1_000_000, endMs: 1_000_000, reason: 'clock_set' },
    { startMs: 986_000, endMs: 1_016_000, reason: 'disk_failed' },
  ])
})

test('marks made with a clock that was set back before anything was recorded do not outlast it', async () => {
  const footage = { startMs: 0, endMs: 1_000_000 }
  const { marker, gap, advance, marks, setClock } = open({ footage })
  gap('no_frames')
  await advance(60_000)
  setClock(3_600_000)
  gap('auth_failed')
  await advance(60_000)
  setClock(-3_600_000)
  gap('camera_unreachable')
  await advance(60_000)
  assert.deepEqual(marks, [
    { atMs: 1_000_000, reason: 'no_frames' },
    { atMs: 1_120_000, reason: 'camera_unreachable' },
    { atMs: 1_180_000, reason: 'camera_unreachable' },
  ])
  assert.equal(await marker.findStartReason(), 'camera_unreachable')
})

test('marks of before any footage are removed, but for the last', async () => {
  const marks = [100, 200, 300].map((atMs) => ({ atMs, reason: 'no_frames' }))
  const { marker, gap, advance } = open({ marks, footage: { startMs: 250, endMs: 1_000_000 } })
  gap('server_down')
  await advance(1)
  await marker.clean()
  assert.deepEqual(
    marks.slice(0, 2).map(({ atMs }) => atMs),
    [200, 300],
  )
})

test('a camera that never was recorded does not gather marks', async () => {
  const { marker, gap, offline, advance, marks } = open()
  gap('server_down')
  for (let i = 0; i < 100; i++) {
    await advance(60_000)
    offline(i % 2 === 0 ? 'camera_unreachable' : 'auth_failed')
    if (i % 60 === 59) await marker.clean()
  }
  await advance(4000)
  await marker.clean()
  assert.ok(marks.length < 62, `${marks.length}`)
  assert.equal(marks.at(-1)?.reason, 'auth_failed')
})

test('an outage during which the clock is set back is told by the old time and by the new one', async () => {
  const minute = 60_000
  const startMs = 1_000_000 - 30 * minute
  const lastMs = 1_000_000
  const footage = { startMs, endMs: lastMs }
  const { marker, gap, advance, setClock } = open({ footage })
  const list = async (nowMs: number, spans: Span[], newest: { epoch: number; endMs: number }) => {
    const range = { startMs, endMs: nowMs + 60 * minute }
    const marks = await marker.list(range.startMs, range.endMs)
    const { gaps } = buildTimeline(spans, { ...range, footage: { ...footage, newest }, marks, nowMs })
    return gaps.map(({ startMs: fromMs, endMs: toMs, reason }) => [fromMs - lastMs, toMs - lastMs, reason])
  }
  gap('camera_unreachable')
  await advance(8000)
  setClock(-20 * minute)
  const before = { ...footage, gapReason: undefined }
  const back = -20 * minute + 9000
  const listAfter = (ms: number) => list(lastMs + back + ms, [before], { epoch: 0, endMs: lastMs })
  const told = (ms: number) => [
    [0, 9000, 'camera_unreachable'],
    [9000, 9000, 'clock_set'],
    [back, back + ms, 'camera_unreachable'],
  ]
  await advance(1000)
  await advance(1000)
  assert.deepEqual(await listAfter(1000), told(1000), 'at once')
  await advance(59_000)
  assert.deepEqual(await listAfter(60_000), told(60_000), 'while it lasts')
  gap(undefined)
  await advance(10_000)
  const after = { startMs: lastMs + back + 60_000, endMs: lastMs + back + 70_000, gapReason: 'clock_set', epoch: 1 }
  const newest = { epoch: 1, endMs: after.endMs }
  assert.deepEqual(await list(after.endMs, [before, after], newest), told(60_000), 'afterwards')
})

test('marks that the store refuses are tried again and keep their order', async () => {
  const marks: GapMark[] = []
  const { gap, advance, refuse } = open({ marks, footage: { startMs: 0, endMs: 1_000_000 } })
  refuse(true)
  gap('disk_failed')
  await advance(10_000)
  gap('no_frames')
  await advance(10_000)
  assert.deepEqual(marks, [])
  refuse(false)
  await advance(1000)
  assert.deepEqual(reasons(marks), ['disk_failed', 'no_frames'])
})

test('a clock that is set back during an outage and forth again leaves one gap', async () => {
  const footage = { startMs: 0, endMs: 1_000_000 }
  const { marker, marks, gap, advance, setClock } = open({ footage })
  gap('camera_unreachable')
  await advance(8000)
  setClock(-300_000)
  await advance(10_000)
  setClock(300_000)
  await advance(10_000)
  await advance(10_000)
  assert.deepEqual(await marker.list(0, 2_000_000), marks)
  const request = { startMs: 0, endMs: 2_000_000, footage, marks, nowMs: 1_038_000 }
  const { gaps } = buildTimeline([{ ...footage, gapReason: undefined }], request)
  assert.deepEqual(
    gaps.map(({ startMs, endMs, reason }) => [startMs, endMs, reason]),
    [
      [1_000_000, 1_018_000, 'camera_unreachable'],
      [1_018_000, 1_028_000, 'clock_set'],
      [1_028_000, 1_038_000, 'camera_unreachable'],
    ],
  )
})

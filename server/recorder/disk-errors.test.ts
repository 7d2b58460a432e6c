import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { syntheticFormat, syntheticStartMs } from '../../test/support/media/synthetic-frames.ts'
import {
  archiveDir,
  createRecorder,
  FaultyDisk,
  settle,
  sum,
  take,
} from '../../test/support/recorder/temporary-recorder.ts'
import { until } from '../../test/support/until.ts'
import { scanSegmentFile } from '../archive/segment-scan.ts'
import { ByteBudget } from '../base/byte-budget.ts'
import { type Clock, systemClock } from '../base/clock.ts'

test('a full disk is reported, complete fragments are kept, and recording resumes by itself', async () => {
  const disk = new FaultyDisk()
  let now = 0
  const clock: Clock = { ...systemClock, monotonicMs: () => now }
  const { recorder, events } = createRecorder({ disk, clock, random: () => 0 })
  recorder.push({ kind: 'start', runId: 'a', format: syntheticFormat() })
  for (const frame of take({}, 20)) {
    if (frame.isKey) await settle(recorder)
    now = frame.dts90k / 90
    if (now === 3000) disk.failure = 'ENOSPC'
    if (now === 10_000) disk.failure = undefined
    recorder.push(frame)
  }
  await recorder.close()
  assert.deepEqual(
    events.files.map(({ fragments, isClosed, segment }) => [fragments[0]?.startMs, isClosed, segment.gapReason]),
    [
      [syntheticStartMs, true, undefined],
      [events.files[1]!.segment.startMs, true, 'disk_full'],
    ],
  )
  assert.ok(events.files[1]!.segment.startMs <= syntheticStartMs + 14_000, 'recording is retried soon')
  // Each attempt begins a file and fails.
  assert.deepEqual([...new Set(events.gaps)], ['disk_full', undefined, 'stopped_by_user'])
  assert.deepEqual(events.gaps.slice(-3), ['disk_full', undefined, 'stopped_by_user'])
  assert.deepEqual(events.statuses, [
    'CONNECTING',
    'RECORDING',
    'ERROR: The disk for recordings is full, or takes no more files: free some space, or keep recordings for a shorter time.',
    'RECORDING',
    'STOPPING',
    'READY',
  ])
  for (const { segment, fragments } of events.files) {
    const scan = await scanSegmentFile(join(archiveDir, segment.path))
    assert.deepEqual(scan.fragments, fragments)
    assert.equal(scan.fileBytes, scan.bytes, 'no partial fragment is left')
  }
  assert.ok(recorder.stats().droppedFrames > 100)
  const folder = join(archiveDir, dirname(events.files[0]!.segment.path))
  assert.equal((await readdir(folder)).length, 2, 'no empty file is left')
})

test('an unwritable folder is explained, and retried without flooding', async () => {
  const disk = new FaultyDisk()
  disk.failure = 'EACCES'
  let now = 0
  const { recorder, events } = createRecorder({ disk, clock: { ...systemClock, monotonicMs: () => now } })
  recorder.push({ kind: 'start', runId: 'a', format: syntheticFormat() })
  for (const frame of take({}, 120)) {
    if (frame.isKey) await new Promise(setImmediate)
    now = frame.dts90k / 90
    recorder.push(frame)
  }
  await recorder.close()
  assert.match(events.statuses[1]!, /^ERROR: The server may not write to the folder for recordings/)
  assert.ok(recorder.stats().diskErrors <= 10, `${recorder.stats().diskErrors} attempts`)
  assert.equal(recorder.stats().pendingBytes, 0)
})

test('a slow disk never blocks the camera: frames are dropped until a key frame and counted, and the gap is reported', async () => {
  const disk = new FaultyDisk()
  let go = () => {}
  disk.wait = new Promise((resolve) => (go = resolve))
  const maxPendingBytes = 300_000
  // A single recorder gets half of the budget.
  const pendingBudget = new ByteBudget(2 * maxPendingBytes)
  const { recorder, events } = createRecorder({ disk, pendingBudget, segmentMs: 1_000_000 })
  recorder.push({ kind: 'start', runId: 'a', format: syntheticFormat() })
  for (const frame of take({}, 60)) {
    recorder.push(frame)
    assert.ok(recorder.stats().pendingBytes <= maxPendingBytes)
    if (frame.dts90k === 50 * 90_000) {
      go()
      await settle(recorder)
    }
  }
  await recorder.close()
  const { droppedFrames } = recorder.stats()
  assert.equal(events.files.length, 2)
  assert.equal(events.files[1]!.segment.gapReason, 'overload')
  assert.deepEqual(events.gaps, ['overload', undefined, 'stopped_by_user'])
  const recordedMs = sum(events.files.flatMap(({ fragments }) => fragments.map(({ durationMs }) => durationMs)))
  assert.equal(recordedMs + droppedFrames * 40, 60_000)
})

test('bytes are synced every few seconds and at the end', async () => {
  const disk = new FaultyDisk()
  let now = 0
  const { recorder } = createRecorder({ disk, syncIntervalMs: 5000, clock: { ...systemClock, monotonicMs: () => now } })
  recorder.push({ kind: 'start', runId: 'a', format: syntheticFormat() })
  for (const frame of take({}, 14)) {
    if (frame.isKey) await settle(recorder)
    now = frame.dts90k / 90
    recorder.push(frame)
  }
  await recorder.close()
  assert.equal(disk.syncs, 3)
  assert.equal(recorder.stats().pendingBytes, 0)
})

test('bytes are synced in time if no fragment follows them', async () => {
  const disk = new FaultyDisk()
  let now = 0
  const { recorder } = createRecorder({ disk, syncIntervalMs: 5000, clock: { ...systemClock, monotonicMs: () => now } })
  recorder.push({ kind: 'start', runId: 'a', format: syntheticFormat() })
  for (const frame of take({}, 3)) recorder.push(frame)
  await settle(recorder)
  for (now = 1000; now <= 4000; now += 1000) recorder.tick()
  await settle(recorder)
  assert.equal(disk.syncs, 0)
  now = 4500
  recorder.tick()
  await until(() => disk.syncs === 1)
  for (now = 10_000; now < 30_000; now += 1000) recorder.tick()
  await recorder.close()
  assert.equal(disk.syncs, 2, 'there is no further sync without new data')
})

test('a disk that takes ten seconds for a write is reported, and nothing that fits the queue is lost', async () => {
  const disk = new FaultyDisk()
  let now = 0
  const { recorder, events } = createRecorder({ disk, clock: { ...systemClock, monotonicMs: () => now } })
  recorder.push({ kind: 'start', runId: 'a', format: syntheticFormat() })
  let go = () => {}
  for (const frame of take({}, 30)) {
    if (frame.isKey && frame.kind === 'video') {
      if (now <= 5000 || now > 15_000) await settle(recorder)
      recorder.tick()
    }
    now = frame.dts90k / 90
    if (now === 5000) disk.wait = new Promise((resolve) => (go = resolve))
    if (now === 15_000) go()
    recorder.push(frame)
  }
  await recorder.close()
  assert.deepEqual(events.statuses, [
    'CONNECTING',
    'RECORDING',
    'ERROR: The disk for recordings is too slow: check its health and what else uses it.',
    'RECORDING',
    'STOPPING',
    'READY',
  ])
  assert.equal(recorder.stats().droppedFrames, 0)
  assert.equal(sum(events.files.map(({ fragments }) => fragments.length)), 30)
})

test('a file that was not synced does not count as complete', async () => {
  const disk = new FaultyDisk()
  const { recorder, events } = createRecorder({ disk, random: () => 0 })
  recorder.push({ kind: 'start', runId: 'a', format: syntheticFormat() })
  for (const frame of take({}, 3)) recorder.push(frame)
  await settle(recorder)
  disk.syncFailure = 'EIO'
  await recorder.close()
  assert.deepEqual([events.files[0]!.isClosed, events.files[0]!.isBroken], [false, true])
})

test('after a failed sync, the queue is written to a new file, and only unconfirmed writes are lost', async () => {
  const disk = new FaultyDisk()
  let now = 0
  const { recorder, events } = createRecorder({ disk, clock: { ...systemClock, monotonicMs: () => now } })
  const options = { audioSampleRate: 48000 } as const
  recorder.push({ kind: 'start', runId: 'a', format: syntheticFormat(options) })
  for (const frame of take(options, 28)) {
    if (frame.kind === 'video' && frame.isKey && now !== 8000) await settle(recorder)
    now = frame.dts90k / 90
    // Only the second sync fails, while a fragment waits.
    disk.syncFailure = now >= 8000 && disk.syncs < 2 ? 'EIO' : undefined
    recorder.push(frame)
  }
  await recorder.close()
  const [broken, next] = events.files
  assert.equal(events.files.length, 2)
  assert.deepEqual([broken!.isBroken, next!.isClosed, next!.segment.gapReason], [true, true, 'disk_failed'])
  const confirmed = broken!.fragments.filter(({ offset, bytes }) => offset + bytes <= broken!.confirmedBytes!)
  const recordedMs = sum([...confirmed, ...next!.fragments].map(({ durationMs }) => durationMs))
  const lostMs = next!.fragments[0]!.startMs - (confirmed.at(-1)!.startMs + 1000)
  assert.ok(confirmed.length >= 5 && lostMs > 0 && lostMs <= 7000, `${confirmed.length} confirmed, ${lostMs} ms lost`)
  assert.deepEqual([recordedMs + lostMs, recorder.stats().droppedFrames * 40], [28_000, lostMs])
  for (const { segment } of events.files) {
    const scan = await scanSegmentFile(join(archiveDir, segment.path), { isVerified: true })
    assert.deepEqual([scan.damage, scan.bytes], [undefined, scan.fileBytes])
  }
  const failure = events.statuses.indexOf(
    'ERROR: The disk for recordings reported a device error: check its health and its cable.',
  )
  assert.deepEqual(events.statuses.slice(failure + 1), ['RECORDING', 'STOPPING', 'READY'])
})

test('a gap that a failed sync makes longer keeps its reason, unless the longer part is the disk’s', async () => {
  for (const [awayMs, expected] of [
    [60_000, 'camera_unreachable'],
    [1000, 'disk_failed'],
  ] as const) {
    const disk = new FaultyDisk()
    const { recorder, events } = createRecorder({ disk, random: () => 0 })
    const frames = [...take({}, 5 + awayMs / 1000 + 8)]
    const seconds = (from: number, to: number) =>
      frames.filter(({ dts90k }) => dts90k >= from * 90_000 && dts90k < to * 90_000)
    recorder.push({ kind: 'start', runId: 'a', format: syntheticFormat() })
    for (const frame of seconds(0, 5)) recorder.push(frame)
    recorder.push({ kind: 'end', reason: 'camera_unreachable' })
    await settle(recorder)
    recorder.push({ kind: 'start', runId: 'b', format: syntheticFormat() })
    const backS = 5 + awayMs / 1000
    for (const frame of seconds(backS, backS + 3)) recorder.push(frame)
    await settle(recorder)
    disk.syncFailure = 'EIO'
    const { syncs } = disk
    recorder.push({ kind: 'end', reason: 'stream_changed' })
    while (disk.syncs === syncs) await settle(recorder)
    disk.syncFailure = undefined
    recorder.push({ kind: 'start', runId: 'c', format: syntheticFormat() })
    for (const frame of seconds(backS + 3, backS + 8)) recorder.push(frame)
    await recorder.close()
    const files = events.files.map(({ isClosed, segment }) => [isClosed, segment.gapReason])
    assert.deepEqual(files.slice(1), [
      [false, 'camera_unreachable'],
      [true, expected],
    ])
  }
})

test('a camera whose frames exceed the queue does not create a file per frame', async () => {
  let nowMs = 0
  const clock: Clock = { ...systemClock, monotonicMs: () => nowMs }
  const { recorder, events } = createRecorder({ clock, pendingBudget: new ByteBudget(64 * 2 ** 20) })
  recorder.push({ kind: 'start', runId: 'run', format: syntheticFormat() })
  const data = new Uint8Array(9 * 2 ** 20)
  const seconds = 30
  for (let i = 0; i < seconds * 2; i++) {
    nowMs += 500
    const times = { pts90k: i * 45_000, dts90k: i * 45_000, wallMs: syntheticStartMs + i * 500 }
    recorder.push({ kind: 'video', ...times, isKey: true, data })
    await settle(recorder)
  }
  await recorder.close('stopped_by_user')
  assert.ok(events.gaps.includes('overload'))
  assert.ok(events.files.length <= 5 + seconds / 5, `${events.files.length} files in ${seconds} s`)
})

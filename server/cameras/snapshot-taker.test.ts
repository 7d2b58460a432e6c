import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { TestClock } from '../../test/support/test-clock.ts'
import { until } from '../../test/support/until.ts'
import { AppError } from '../base/error.ts'
import { silentLogger } from '../base/log.ts'
import { type SnapshotSchedule, SnapshotTaker } from './snapshot-taker.ts'

async function setUp() {
  const dir = await mkdtemp(join(tmpdir(), 'snapshots-'))
  const clock = new TestClock()
  const taken: { cameraId: number; atMs: number }[] = []
  const reported: { cameraId: number; createdAtMs: number }[] = []
  const state = {
    started: 0,
    running: 0,
    mostRunning: 0,
    sleeping: 0,
    offline: new Set<number>(),
    late: new Set<number>(),
  }
  const taker = new SnapshotTaker({
    dir: join(dir, 'snapshots'),
    clock,
    log: silentLogger,
    random: () => 0.5,
    onSnapshot: (cameraId, createdAtMs) => reported.push({ cameraId, createdAtMs }),
    async takeSnapshot(cameraId) {
      state.started++
      state.mostRunning = Math.max(state.mostRunning, ++state.running)
      await delay(1)
      if (state.late.has(cameraId)) {
        state.sleeping++
        await clock.sleep(5000)
        state.sleeping--
      }
      state.running--
      if (state.offline.has(cameraId)) throw new AppError('unavailable', 'no image')
      taken.push({ cameraId, atMs: clock.monotonicMs() })
      return { jpeg: Uint8Array.of(cameraId, taken.length), wallMs: clock.nowMs() - 7 }
    },
  })
  const controller = new AbortController()
  const schedules = new Map<number, SnapshotSchedule>()
  const scheduleOf = (cameraId: number) => {
    const schedule = schedules.get(cameraId) ?? taker.schedule(cameraId)
    schedules.set(cameraId, schedule)
    return schedule
  }
  const running = taker.run(controller.signal)
  const settle = async () => {
    await delay(5)
    await until(() => state.running === state.sleeping && taken.length === reported.length)
  }
  return {
    ...{ clock, taken, reported, state, taker },
    setOnline: (cameraId: number, lastMs?: number) => taker.setOnline(scheduleOf(cameraId), lastMs),
    setOffline: (cameraId: number) => taker.setOffline(scheduleOf(cameraId)),
    remove: (cameraId: number) => taker.remove(scheduleOf(cameraId)),
    files: () => readdir(join(dir, 'snapshots')),
    /** Lets time pass in small steps, and waits until what is due has been taken and written. */
    async pass(minutes: number) {
      for (let i = 0; i < minutes * 2; i++) {
        await clock.advance(30_000)
        await settle()
      }
    },
    /** Lets a little time pass, and waits likewise. */
    async step() {
      await clock.advance(100)
      await settle()
    },
    async [Symbol.asyncDispose]() {
      controller.abort()
      await clock.advance(5000)
      await running
      await rm(dir, { recursive: true })
    },
  }
}

test('slow cameras do not delay the snapshots of others', async () => {
  await using t = await setUp()
  for (let cameraId = 1; cameraId <= 10; cameraId++) {
    t.state.late.add(cameraId)
    t.setOnline(cameraId)
  }
  for (let cameraId = 11; cameraId <= 20; cameraId++) t.setOnline(cameraId)
  for (let i = 0; t.reported.length < 10; i++) {
    assert.ok(i < 49, 'the others have theirs before the first late one has')
    await t.step()
  }
  assert.ok(t.reported.every(({ cameraId }) => cameraId > 10))
  for (let i = 0; i < 60; i++) await t.step()
  assert.equal(t.reported.length, 20)
})

test('each camera gets a snapshot when it first connects, one at a time, as complete files', async () => {
  await using t = await setUp()
  for (let cameraId = 1; cameraId <= 20; cameraId++) t.setOnline(cameraId)
  await until(() => t.reported.length === 20)
  assert.equal(t.state.mostRunning, 1)
  assert.deepEqual((await t.files()).sort(), Array.from({ length: 20 }, (_, i) => `${i + 1}.jpg`).sort())
  assert.equal((await readFile(t.taker.pathOf(7)))[0], 7)
  assert.equal(t.reported[0]!.createdAtMs, t.clock.nowMs() - 7)
})

test('a new snapshot is taken at least every ten minutes while online, none while offline', async () => {
  await using t = await setUp()
  t.setOnline(1)
  await t.pass(30)
  const times = t.taken.map((each) => each.atMs)
  assert.ok(times.length >= 4)
  for (const [i, atMs] of times.entries()) if (i > 0) assert.ok(atMs - times[i - 1]! <= 600_000)
  t.setOffline(1)
  await t.pass(15)
  assert.equal(t.taken.length, times.length)
})

test('a camera that reconnects soon keeps its snapshot', async () => {
  await using t = await setUp()
  t.setOnline(1, t.clock.nowMs() - 60_000)
  await t.pass(2)
  assert.equal(t.taken.length, 0)
  await t.pass(7)
  assert.equal(t.taken.length, 1)
  t.setOffline(1)
  t.setOnline(1)
  await t.pass(2)
  assert.equal(t.taken.length, 1)
})

test('a camera whose snapshot another server has taken gets one here at once', async () => {
  await using t = await setUp()
  await t.remove(1)
  t.setOnline(1, t.clock.nowMs() - 1000)
  await t.step()
  assert.equal(t.taken.length, 1)
})

test('a failed snapshot is retried without delaying other cameras', async () => {
  await using t = await setUp()
  t.state.offline.add(1)
  t.setOnline(1)
  t.setOnline(2)
  await until(() => t.reported.length === 1)
  assert.equal(t.reported[0]!.cameraId, 2)
  t.state.offline.clear()
  await t.pass(1)
  assert.deepEqual(
    t.reported.map((each) => each.cameraId),
    [2, 1],
  )
})

test('the snapshot of a deleted camera is removed for good', async () => {
  await using t = await setUp()
  t.setOnline(1)
  await until(() => t.state.started === 1)
  await t.remove(1)
  await t.pass(1)
  assert.deepEqual(await t.files(), [])
})

test('snapshots due within two minutes are taken together; a failed camera keeps its delay', async () => {
  await using test = await setUp()
  test.state.offline.add(9)
  test.setOnline(9)
  for (const [cameraId, ageMinutes] of [
    [1, 7.8],
    [2, 6.5],
    [3, 2],
  ] as const) {
    test.setOnline(cameraId, test.clock.nowMs() - ageMinutes * 60_000)
  }
  await test.pass(1) // the first is due 8 minutes after its last one
  await until(() => test.taken.length >= 2)
  await delay(20)
  assert.deepEqual(
    test.taken.map(({ cameraId }) => cameraId),
    [1, 2],
  )
  assert.ok(test.state.started <= 2 + 3, `${test.state.started} attempts`)
})

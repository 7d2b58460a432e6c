import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { MemorySegmentRows } from '../../test/support/archive/memory-segment-rows.ts'
import { createPlace, onePlace } from '../../test/support/archive/one-place.ts'
import { minuteMs, openPlace } from '../../test/support/archive/temporary-archive.ts'
import { systemClock } from '../base/clock.ts'
import { silentLogger } from '../base/log.ts'
import type { OpenFootage } from '../model/segment-views.ts'
import { Places } from '../places/places.ts'
import { segmentPath } from './layout.ts'
import { Retention } from './retention.ts'
import {
  findShareBytes,
  type PlannedDeletion,
  type PlanOptions,
  planRetention,
  type RetentionLimits,
} from './retention-plan.ts'

const nowMs = Date.UTC(2026, 6, 1)

const nothingMissing = new Map([1, 2].map((placeId) => [placeId, 0]))

type Recorded = {
  cameraId: number
  placeId: number
  agoMinutes: number
  minutes: number
  bytes: number
  isOpen: boolean
}

type World = {
  readonly recorded: readonly Recorded[]
  readonly limits: RetentionLimits
  /** By place. */
  readonly missingBytes: ReadonlyMap<number, number>
}

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
const sizes = fc.nat(500)

const worlds: fc.Arbitrary<World> = fc.record({
  recorded: fc.array(
    fc.record({
      cameraId: fc.integer({ min: 1, max: 4 }),
      placeId: fc.constantFrom(1, 1, 2),
      agoMinutes: fc.integer({ min: -5, max: 90 }),
      minutes: fc.constantFrom(0, 1, 1, 1, 2, 30),
      bytes: fc.nat(100),
      isOpen: fc.constantFrom(false, false, false, true),
    }),
    { maxLength: 60 },
  ),
  limits: fc.record({
    // Camera 4 was removed, or never recorded here: nobody limits it.
    cameras: fc.tuple(...[1, 2, 3].map((cameraId) => cameraLimits(cameraId))),
    users: fc.array(fc.tuple(fc.integer({ min: 1, max: 3 }), sizes)).map((list) => new Map(list)),
    others: fc.array(fc.integer({ min: 1, max: 2 })).map((list) => new Set(list)),
    maxBytes: maybe(sizes),
  }),
  missingBytes: fc.tuple(fc.integer({ min: -100, max: 300 }), fc.integer({ min: -100, max: 300 })).map(
    ([first, second]) =>
      new Map([
        [1, first],
        [2, second],
      ]),
  ),
})

function cameraLimits(cameraId: number) {
  const maxAgeMs = fc.integer({ min: 1, max: 120 }).map((minutes) => minutes * minuteMs)
  return fc.record({
    cameraId: fc.constant(cameraId),
    ownerId: fc.constantFrom(1, 2),
    maxAgeMs,
    maxBytes: maybe(sizes),
    isRecorded: fc.boolean(),
  })
}

async function build({ recorded }: World) {
  const rows = new MemorySegmentRows()
  const open: OpenFootage[] = []
  for (const { cameraId, placeId, agoMinutes, minutes, bytes, isOpen } of recorded) {
    const startMs = nowMs - agoMinutes * minuteMs
    const place = { cameraId, startMs, path: segmentPath(cameraId, startMs) }
    const rest = { runId: 'r', runStart90k: 0, placeId, initBytes: 0, codecs: '', width: 1, height: 1, initHash: '' }
    const id = await rows.insertOpen({ ...place, ...rest, gapReason: undefined })
    if (isOpen) open.push({ cameraId, placeId, bytes })
    else await rows.close(id, { endMs: startMs + minutes * minuteMs, bytes, fragments: [] })
  }
  return { rows, open }
}

const sum = (values: Iterable<{ readonly bytes: number }>) => [...values].reduce((total, { bytes }) => total + bytes, 0)

/** Every single deletion, in its order, must be wanted by a limit that is exceeded at that moment, and take the oldest it may take. */
function checkEach(
  rows: MemorySegmentRows,
  planned: readonly PlannedDeletion[],
  world: World,
  open: PlanOptions['open'],
) {
  const { limits } = world
  const left = new Map(rows.all.filter(({ isClosed }) => isClosed).map((segment) => [segment.id, segment]))
  const ownerOf = (cameraId: number) => limits.cameras.find((camera) => camera.cameraId === cameraId)?.ownerId
  const usedBy = (isOne: (cameraId: number, placeId: number) => boolean) =>
    sum([...left.values(), ...open].filter(({ cameraId, placeId }) => isOne(cameraId, placeId)))
  const freed = new Map<number, number>()
  const missingIn = (placeId: number) => (world.missingBytes.get(placeId) ?? 0) - (freed.get(placeId) ?? 0)
  for (const { id, cameraId, reason, bytes } of planned) {
    const segment = left.get(id)!
    assert.ok(segment, 'closed, and not deleted before')
    const camera = limits.cameras.find((each) => each.cameraId === cameraId)
    const isWanted = {
      age: () => segment.endMs <= nowMs - camera!.maxAgeMs,
      camera_bytes: () => usedBy((each) => each === cameraId) > camera!.maxBytes!,
      user_bytes: () => usedBy((each) => ownerOf(each) === ownerOf(cameraId)) > limits.users.get(ownerOf(cameraId)!)!,
      archive_bytes: () => usedBy(() => true) > limits.maxBytes!,
      disk_space: () => missingIn(segment.placeId) > 0,
    }[reason]
    assert.ok(isWanted(), reason)
    // For lack of space, only what is in the same place counts.
    const isAround = (placeId: number) => reason !== 'disk_space' || placeId === segment.placeId
    const around = [...left.values()].filter(({ placeId }) => isAround(placeId))
    const wholeBytes =
      reason === 'archive_bytes'
        ? limits.maxBytes!
        : usedBy((_, placeId) => isAround(placeId)) - missingIn(segment.placeId)
    const isGreedy = (other: number) => {
      const userId = ownerOf(other)
      const share = userId === undefined ? undefined : findShareBytes(limits, userId, wholeBytes)
      return share !== undefined && usedBy((each, placeId) => isAround(placeId) && ownerOf(each) === userId) > share
    }
    const hasGreedy = around.some((each) => isGreedy(each.cameraId))
    if (reason === 'archive_bytes' || reason === 'disk_space')
      assert.ok(!hasGreedy || isGreedy(cameraId), 'first what users have beyond their shares')
    const isRival = {
      age: () => false,
      camera_bytes: (other: number) => other === cameraId,
      user_bytes: (other: number) => ownerOf(other) === ownerOf(cameraId),
      archive_bytes: (other: number) => isGreedy(other) === hasGreedy,
      disk_space: (other: number) => isGreedy(other) === hasGreedy,
    }[reason]
    for (const other of around) assert.ok(!isRival(other.cameraId) || other.startMs >= segment.startMs, 'oldest')
    left.delete(id)
    freed.set(segment.placeId, (freed.get(segment.placeId) ?? 0) + bytes)
  }
  const isDone = (isOne: (cameraId: number) => boolean, maxBytes: number | undefined) =>
    maxBytes === undefined || usedBy(isOne) <= maxBytes || ![...left.values()].some(({ cameraId }) => isOne(cameraId))
  for (const { cameraId, maxAgeMs, maxBytes } of limits.cameras) {
    for (const segment of left.values()) {
      assert.ok(segment.cameraId !== cameraId || segment.endMs > nowMs - maxAgeMs, 'nothing old is left')
    }
    assert.ok(isDone((each) => each === cameraId, maxBytes))
  }
  for (const [userId, maxBytes] of limits.users) assert.ok(isDone((each) => ownerOf(each) === userId, maxBytes))
  assert.ok(isDone(() => true, limits.maxBytes))
  for (const placeId of world.missingBytes.keys())
    assert.ok(
      missingIn(placeId) <= 0 || ![...left.values()].some((segment) => segment.placeId === placeId),
      'the disk has its room',
    )
}

test('for any footage and limits, only excess footage is deleted, oldest first, until every limit holds', async () => {
  await fc.assert(
    fc.asyncProperty(worlds, async (world) => {
      const { rows, open } = await build(world)
      const { limits, missingBytes } = world
      const planned = await Array.fromAsync(planRetention({ rows, limits, nowMs, open, missingBytes }))
      checkEach(rows, planned, world, open)
    }),
    { numRuns: 500 },
  )
})

test('what is in places that are away neither counts nor is deleted', async () => {
  await fc.assert(
    fc.asyncProperty(worlds, async (world) => {
      const isOwn = ({ placeId }: { placeId: number }) => placeId === 1
      const plan = async (recorded: readonly Recorded[]) => {
        const { rows, open } = await build({ ...world, recorded })
        const missingBytes = new Map([[1, world.missingBytes.get(1)!]])
        const { limits } = world
        const planned = planRetention({ rows, limits, nowMs, open: open.filter(isOwn), missingBytes })
        return (await Array.fromAsync(planned)).map(({ id, ...deletion }) => deletion)
      }
      assert.deepEqual(await plan(world.recorded), await plan(world.recorded.filter(isOwn)))
    }),
    { numRuns: 200 },
  )
})

test('servers keep the limits of cameras and users together, and each deletes its own footage', async () => {
  await fc.assert(
    fc.asyncProperty(worlds, async (world) => {
      const closed = world.recorded.filter(({ isOpen }) => !isOpen)
      const { rows } = await build({ ...world, recorded: closed })
      const limits = { ...world.limits, maxBytes: undefined }
      const plan = async (options: Pick<PlanOptions, 'missingBytes' | 'ownPlaces'>) => {
        const planned = await Array.fromAsync(planRetention({ rows, limits, nowMs, open: [], ...options }))
        return planned.map(({ id }) => id)
      }
      const byEach = [1, 2].map((id) => plan({ missingBytes: new Map([[id, 0]]), ownPlaces: new Set([id]) }))
      const together = (await Promise.all(byEach)).flat()
      const byOne = await plan({ missingBytes: nothingMissing })
      assert.deepEqual(new Set(together), new Set(byOne))
    }),
    { numRuns: 300 },
  )
})

test('a pass deletes exactly what was planned before, even if it deletes while planning', async () => {
  const { archiveDir } = await openPlace()
  await fc.assert(
    fc.asyncProperty(worlds, async (world) => {
      const { rows, open } = await build(world)
      const { limits } = world
      const planned = await Array.fromAsync(planRetention({ rows, limits, nowMs, open, missingBytes: nothingMissing }))
      const before = new Set(rows.all.map(({ id }) => id))
      const retention = new Retention({
        rows,
        places: new Places([createPlace(archiveDir), createPlace(archiveDir, { id: 2 })]),
        clock: { ...systemClock, nowMs: () => nowMs, sleep: async () => {} },
        log: silentLogger,
        loadLimits: async () => limits,
        openFootage: () => open,
        recordedBytes: () => 0,
        minFreeBytes: 0,
        measureDisk: async () => ({ totalBytes: 0, freeBytes: 0 }),
      })
      await retention.pass(new AbortController().signal)
      for (const { id } of rows.all) before.delete(id)
      assert.deepEqual(
        [...before].sort((a, b) => a - b),
        planned.map(({ id }) => id).sort((a, b) => a - b),
      )
      assert.deepEqual(await rows.listPendingDeletions(1), [])
    }),
    { numRuns: 200 },
  )
})

test('a month of recording under limits, an hour at a time: the limits hold after every pass', async () => {
  const { archiveDir } = await openPlace()
  const rows = new MemorySegmentRows()
  const limits: RetentionLimits = {
    cameras: [1, 2, 3].map((cameraId) => ({
      cameraId,
      ownerId: cameraId === 3 ? 2 : 1,
      maxAgeMs: cameraId * 5 * 1440 * minuteMs,
      maxBytes: cameraId === 2 ? 9000 : undefined,
      isRecorded: true,
    })),
    users: new Map([[1, 15_000]]),
    maxBytes: 40_000,
  }
  let clockMs = nowMs
  const retention = new Retention({
    rows,
    places: onePlace(archiveDir),
    clock: { ...systemClock, nowMs: () => clockMs, sleep: async () => {} },
    log: silentLogger,
    loadLimits: async () => limits,
    openFootage: () => [],
    recordedBytes: () => 0,
    minFreeBytes: 0,
    measureDisk: async () => ({ totalBytes: 0, freeBytes: 0 }),
  })
  const used = (cameras: readonly number[]) => sum(rows.all.filter(({ cameraId }) => cameras.includes(cameraId)))
  const { signal } = new AbortController()
  for (let hour = 0; hour < 30 * 24; hour++) {
    for (const cameraId of [1, 2, 3]) {
      const place = { cameraId, startMs: clockMs, path: segmentPath(cameraId, clockMs) }
      const rest = {
        runId: 'r',
        runStart90k: 0,
        placeId: 1,
        initBytes: 0,
        codecs: '',
        width: 1,
        height: 1,
        initHash: '',
      }
      const id = await rows.insertOpen({ ...place, ...rest, gapReason: undefined })
      // A gap at night for camera 3: its footage is smaller, and its oldest is older.
      const bytes = cameraId === 3 && hour % 24 < 8 ? 10 : 100
      await rows.close(id, { endMs: clockMs + 60 * minuteMs, bytes, fragments: [] })
    }
    clockMs += 60 * minuteMs
    await retention.pass(signal)
    assert.ok(used([2]) <= 9000 && used([1, 2]) <= 15_000 && used([1, 2, 3]) <= 40_000)
    for (const { cameraId, maxAgeMs } of limits.cameras) {
      const own = rows.all.filter((segment) => segment.cameraId === cameraId)
      assert.ok(own.every(({ endMs }) => endMs > clockMs - maxAgeMs))
      assert.ok(own.length > 0)
    }
  }
  assert.ok(used([1, 2]) > 14_800, 'and no more goes than must')
  assert.equal(Math.round(rows.all.filter(({ cameraId }) => cameraId === 3).length / 24), 15, 'by age alone')
})

test('footage with future times, recorded before the clock was corrected, does not stop later footage from expiring', async () => {
  const rows = new MemorySegmentRows()
  const rest = { runId: 'r', runStart90k: 0, placeId: 1, initBytes: 0, codecs: '', width: 1, height: 1, initHash: '' }
  const yearMs = 365 * 24 * 60 * minuteMs
  const add = async (startMs: number, epoch?: number) => {
    const place = { cameraId: 1, startMs, path: segmentPath(1, startMs) }
    const id = await rows.insertOpen({ ...place, ...rest, gapReason: undefined }, epoch)
    await rows.close(id, { endMs: startMs + minuteMs, bytes: 10, fragments: [] })
    return id
  }
  const early = await add(nowMs - 200 * minuteMs)
  const ahead = [await add(nowMs + 10 * yearMs), await add(nowMs + 10 * yearMs + minuteMs)]
  const right = await add(nowMs - 190 * minuteMs, 1)
  await add(nowMs - 10 * minuteMs)
  const camera = { cameraId: 1, ownerId: 1, maxBytes: undefined, isRecorded: true }
  const plan = async (maxAgeMinutes: number) => {
    const cameras = [{ ...camera, maxAgeMs: maxAgeMinutes * minuteMs }]
    const limits = { cameras, users: new Map(), maxBytes: undefined }
    const planned = await Array.fromAsync(
      planRetention({ rows, limits, nowMs, open: [], missingBytes: nothingMissing }),
    )
    return planned.map(({ id }) => id).sort((a, b) => a - b)
  }
  assert.deepEqual(await plan(195), [early], 'nothing recorded after it is too old yet')
  assert.deepEqual(await plan(60), [early, ...ahead, right])
  assert.deepEqual(await plan(60), [early, ...ahead, right], 'a plan changes nothing')
})

test('a user who does not own the server cannot push out the footage of its owner', async () => {
  const rows = new MemorySegmentRows()
  const rest = { runId: 'r', runStart90k: 0, placeId: 1, initBytes: 0, codecs: '', width: 1, height: 1, initHash: '' }
  const add = async (cameraId: number, agoMinutes: number, bytes: number) => {
    const startMs = nowMs - agoMinutes * minuteMs
    const place = { cameraId, startMs, path: segmentPath(cameraId, startMs) }
    const id = await rows.insertOpen({ ...place, ...rest, gapReason: undefined })
    await rows.close(id, { endMs: startMs + minuteMs, bytes, fragments: [] })
  }
  // The owner's is the oldest. Twenty cameras of somebody else fill the archive.
  for (let i = 0; i < 30; i++) await add(1, 1000 - i, 1000)
  for (let i = 0; i < 60; i++) await add(2 + (i % 20), 60 - i, 1000)
  const month = 30 * 1440 * minuteMs
  const limits: RetentionLimits = {
    cameras: Array.from({ length: 21 }, (_, i) => ({
      ...{ cameraId: i + 1, ownerId: i === 0 ? 1 : 2, maxAgeMs: month, maxBytes: undefined, isRecorded: true },
    })),
    users: new Map(),
    others: new Set([2]),
    maxBytes: 50_000,
  }
  const planned = await Array.fromAsync(planRetention({ rows, limits, nowMs, open: [], missingBytes: nothingMissing }))
  assert.equal(planned.length, 40)
  assert.ok(planned.every(({ cameraId }) => cameraId !== 1))
  const more = { ...limits, maxBytes: 20_000 }
  const later = await Array.fromAsync(
    planRetention({ rows, limits: more, nowMs, open: [], missingBytes: nothingMissing }),
  )
  const left = 60 - later.filter(({ cameraId }) => cameraId !== 1).length
  assert.equal(left, 2, 'a tenth of the archive stays theirs')
})

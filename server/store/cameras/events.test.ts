import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import fc from 'fast-check'
import { type TestDatabase, testEachDatabase } from '../../../test/postgres/each-database.ts'
import { TestClock } from '../../../test/support/test-clock.ts'
import { until } from '../../../test/support/until.ts'
import { dayMs } from '../../model/event-days.ts'
import type { OpenRange } from '../../model/time-range.ts'
import { openStore as openStoreFile, type Store } from '../store.ts'
import type { EventScope } from './event-counts.ts'
import type { CameraEvent, NewCameraEvent } from './events.ts'

const day0 = Date.UTC(2030, 0, 1)
const source = { type: 'h264', url: 'rtsp://h/1', username: null, password: null } as const

async function openWithCameras(t: TestContext, { openStore }: TestDatabase) {
  const clock = new TestClock(day0)
  const { store } = await openStore(t, { clock })
  const addUser = (email: string) =>
    store.users.insert({ email, firstName: 'A', lastName: 'B', passwordHash: '!' }).then(({ id }) => id)
  const [ada, bob] = [await addUser('ada@example.org'), await addUser('bob@example.org')]
  const addCamera = (ownerId: number) => store.cameras.insert({ ...source, name: 'Door', ownerId }).then(({ id }) => id)
  const cameras = [await addCamera(ada), await addCamera(ada), await addCamera(bob)] as const
  return { store, clock, ada, bob, cameras, addCamera }
}

const eventAt = (cameraId: number, occurredAtMs: number): NewCameraEvent => ({
  cameraId,
  title: null,
  category: 'generic',
  source: 'api',
  occurredAtMs,
  data: null,
})

const everything = { limit: 1000, offset: 0 }
const timesOf = (events: readonly CameraEvent[]) => events.map(({ occurredAtMs }) => (occurredAtMs - day0) / 1000)

testEachDatabase('events: kept as given, newest first, of an owner or of a camera', async (t, database) => {
  const { store, ada, bob, cameras } = await openWithCameras(t, database)
  const { events } = store
  const given = { ...eventAt(cameras[0], day0 + 5000), title: 'Türe 😀', category: 'door', data: '{"a":[1,"ü"]}' }
  const first = await events.insert({ ...given, source: 'device' })
  assert.deepEqual(first, { ...given, id: first.id, source: 'device', receivedAtMs: day0 })
  const second = await events.insert(eventAt(cameras[1], day0 + 5000))
  const third = await events.insert(eventAt(cameras[0], day0 + 4000))
  await events.insert(eventAt(cameras[2], day0 + 9000))
  assert.deepEqual(await events.list({ ownerId: ada }, {}, everything), [second, first, third])
  assert.deepEqual(await events.list({ cameraId: cameras[0] }, {}, everything), [first, third])
  assert.deepEqual(await events.list({ ownerId: ada }, {}, { limit: 1, offset: 1 }), [first])
  assert.deepEqual(await events.list({ ownerId: ada }, {}, { limit: 1, offset: 3 }), [])
  assert.equal(await events.count({ ownerId: ada }, {}), 3)
  assert.equal(await events.count({ ownerId: bob }, {}), 1)
  assert.equal(await events.count({ ownerId: 99 }, {}), 0)
  const range = { startMs: day0 + 4000, endMs: day0 + 5000 }
  assert.deepEqual(await events.list({ ownerId: ada }, range, everything), [third])
  assert.equal(await events.count({ ownerId: ada }, range), 1)
  const doors = { category: 'door' }
  assert.deepEqual(await events.list({ ownerId: ada }, doors, everything), [first])
  assert.deepEqual(await events.list({ cameraId: cameras[1] }, doors, everything), [])
  assert.deepEqual(await events.list({ ownerId: ada }, { ...range, category: 'generic' }, everything), [third])
  assert.deepEqual(await events.list({ ownerId: ada }, { category: 'generic' }, { limit: 9, offset: 1 }), [third])
  assert.equal(await events.count({ ownerId: ada }, doors), 1)
  assert.equal(await events.count({ ownerId: ada }, { ...range, category: 'generic' }), 1)
  assert.equal(await events.count({ ownerId: ada }, { ...range, category: 'door' }), 0)
  await assert.rejects(events.insert(eventAt(999, day0)), { kind: 'not_found' })
  await assert.rejects(events.insert({ ...eventAt(cameras[0], day0), title: 'a\0b' }), { kind: 'invalid' })
  assert.equal(await events.count({ ownerId: ada }, {}), 3)
})

testEachDatabase('events go with their camera, its counts too', async (t, database) => {
  const { store, ada, bob, cameras, addCamera } = await openWithCameras(t, database)
  const { events } = store
  const keep = await events.insert(eventAt(cameras[1], day0))
  await store.transaction(async (tables) => {
    for (let i = 0; i < 1100; i++) await tables.events.insert(eventAt(cameras[0], day0 + i * 1000))
  })
  await events.insert(eventAt(cameras[0], day0), { kind: 'begin', sinceMs: day0 })
  assert.equal(await store.cameras.remove(cameras[0]), true)
  assert.deepEqual(await events.list({ ownerId: ada }, {}, everything), [keep])
  assert.equal(await events.count({ ownerId: ada }, {}), 1)
  assert.equal(await events.count({ ownerId: ada }, { startMs: day0 - dayMs }), 1)
  assert.deepEqual(await events.listOutages(), new Map())
  await events.insert(eventAt(await addCamera(bob), day0))
  const { ownerId: removed } = (await store.cameras.find(cameras[2]))!
  await assert.rejects(store.accounts.remove(removed, { withCameras: false }), { kind: 'conflict' })
  assert.equal(await events.count({ ownerId: bob }, {}), 1)
  await store.accounts.remove(bob, { withCameras: true })
  assert.equal(await events.count({ ownerId: bob }, {}), 0)
  assert.equal(await events.count({ ownerId: ada }, {}), 1)
})

testEachDatabase('outages are remembered with the events that tell of them', async (t, database) => {
  const { store, cameras } = await openWithCameras(t, database)
  const { events } = store
  const edge = eventAt(cameras[0], day0)
  await events.insert(edge, { kind: 'begin', sinceMs: day0 + 7 })
  await events.insert(edge, { kind: 'begin', sinceMs: day0 + 8 })
  await events.insert(eventAt(cameras[1], day0), { kind: 'begin', sinceMs: day0 + 9 })
  const expected = [
    [cameras[0], day0 + 8],
    [cameras[1], day0 + 9],
  ] as const
  assert.deepEqual(await events.listOutages(), new Map(expected))
  await events.insert(edge, { kind: 'end' })
  assert.deepEqual(await events.listOutages(), new Map([expected[1]]))
  assert.equal(await events.count({ cameraId: cameras[0] }, {}), 3)
})

testEachDatabase('old events go by when they were received, too many by when they occurred', async (t, database) => {
  const { store, clock, ada, cameras } = await openWithCameras(t, database)
  const { events } = store
  for (const seconds of [30, 10, 20]) {
    await events.insert(eventAt(cameras[0], day0 + seconds * 1000))
    clock.skip(1000)
  }
  assert.equal(await events.removeReceivedBefore(day0), 0)
  assert.equal(await events.removeReceivedBefore(day0 + 1000), 1)
  assert.deepEqual(timesOf(await events.list({ ownerId: ada }, {}, everything)), [20, 10])
  await events.insert(eventAt(cameras[1], day0))
  assert.deepEqual(await events.listOverfull(2), [])
  assert.deepEqual(await events.listOverfull(1), [{ cameraId: cameras[0], excess: 1 }])
  assert.equal(await events.removeLast(cameras[0], 1), 1)
  assert.deepEqual(timesOf(await events.list({ cameraId: cameras[0] }, {}, everything)), [20])
  assert.equal(await events.count({ ownerId: ada }, { startMs: day0, endMs: day0 + dayMs }), 2)
  assert.equal(await events.removeLast(cameras[0], 1000), 1)
  assert.equal(await events.count({ cameraId: cameras[0] }, {}), 0)
})

testEachDatabase(
  'any page of any range is what a plain list would give, and the count is its length',
  async (t, database) => {
    const { store, ada, bob, cameras } = await openWithCameras(t, database)
    const { events } = store
    const plain: CameraEvent[] = []
    // Clusters at day boundaries, many at the same moment, and some before 1970.
    const random = fc.sample(
      fc.record({
        camera: fc.integer({ min: 0, max: 2 }),
        day: fc.constantFrom(-30_000, 0, 1, 2, 3, 7),
        ms: fc.oneof(fc.constantFrom(0, 1, dayMs - 1, dayMs / 2), fc.integer({ min: 0, max: dayMs - 1 })),
      }),
      { numRuns: 3000, seed: 7 },
    )
    await store.transaction(async (tables) => {
      plain.length = 0
      for (const { camera, day, ms } of random) {
        plain.push(await tables.events.insert(eventAt(cameras[camera]!, day0 + day * dayMs + ms)))
      }
    })
    for (let i = 0; i < 3; i++) assert.equal(await events.removeLast(cameras[0], 50), 50)
    const lists = (scope: EventScope, { startMs = -Infinity, endMs = Infinity }: OpenRange) =>
      plain
        .filter((event) => ('cameraId' in scope ? event.cameraId === scope.cameraId : ownerOf(event) === scope.ownerId))
        .filter((event) => event.occurredAtMs >= startMs && event.occurredAtMs < endMs)
        .sort((a, b) => b.occurredAtMs - a.occurredAtMs || b.id - a.id)
    const ownerOf = ({ cameraId }: CameraEvent) => (cameraId === cameras[2] ? bob : ada)
    for (const gone of lists({ cameraId: cameras[0] }, {}).slice(-150)) plain.splice(plain.indexOf(gone), 1)

    const bound = fc.option(
      fc
        .tuple(fc.constantFrom(-30_001, -30_000, 0, 1, 2, 3, 4, 8), fc.constantFrom(0, 1, dayMs / 2, dayMs - 1))
        .map(([day, ms]) => day0 + day * dayMs + ms),
      { nil: undefined },
    )
    const scope = fc.constantFrom<EventScope[]>(
      { ownerId: ada },
      { ownerId: bob },
      { cameraId: cameras[0] },
      { cameraId: cameras[1] },
    )
    const page = fc.record({ limit: fc.constantFrom(1, 10, 1000), offset: fc.integer({ min: 0, max: 2600 }) })
    await fc.assert(
      fc.asyncProperty(scope, bound, bound, page, async (scope, startMs, endMs, page) => {
        if (startMs !== undefined && endMs !== undefined && startMs >= endMs) return
        const range = { startMs, endMs }
        const expected = lists(scope, range)
        assert.equal(await events.count(scope, range), expected.length)
        assert.deepEqual(await events.list(scope, range, page), expected.slice(page.offset, page.offset + page.limit))
      }),
      { numRuns: 300 },
    )
  },
)

testEachDatabase('events reported at the same time are all counted', async (t, database) => {
  const { store, ada, cameras } = await openWithCameras(t, database)
  const { events } = store
  await Promise.all(
    Array.from({ length: 60 }, (_, i) => [
      events.insert(eventAt(cameras[i % 2]!, day0 + i * 1000)),
      ...(i % 10 === 9 ? [events.removeReceivedBefore(day0 - 1), events.removeLast(cameras[0], 1)] : []),
    ]).flat(),
  )
  const listed = await events.list({ ownerId: ada }, {}, everything)
  assert.ok(listed.length >= 54)
  assert.equal(await events.count({ ownerId: ada }, {}), listed.length)
  assert.equal(await events.count({ ownerId: ada }, { startMs: day0 }), listed.length)
})

testEachDatabase('a hash that was replaced is nobody’s, the new one is the camera’s', async (t, database) => {
  const { store, cameras } = await openWithCameras(t, database)
  const before: Awaited<ReturnType<Store['cameras']['get']>> = await store.cameras.get(cameras[0])
  const { version } = store
  const after = await store.cameras.rotateEventApiHash(cameras[0])
  assert.match(after.eventApiHash, /^[0-9a-f]{32}$/)
  assert.notEqual(after.eventApiHash, before.eventApiHash)
  assert.ok(store.version > version)
  assert.equal(await store.cameras.findByEventApiHash(before.eventApiHash), undefined)
  assert.deepEqual(await store.cameras.findByEventApiHash(after.eventApiHash), after)
  await assert.rejects(store.cameras.rotateEventApiHash(999), { kind: 'not_found' })
})

testEachDatabase(
  'lists of events know when they are outdated, and other listeners are not notified',
  async (t, database) => {
    const { store, cameras } = await openWithCameras(t, database)
    const notified: string[] = []
    store.onChange((change) => notified.push(String(change)))
    const { version } = store
    let before = store.eventsVersion
    const grows = () => {
      const has = store.eventsVersion > before
      before = store.eventsVersion
      return has
    }
    await store.events.insert(eventAt(cameras[0], day0))
    assert.ok(grows())
    await store.events.list({ cameraId: cameras[0] }, {}, everything)
    await assert.rejects(store.events.insert(eventAt(999, day0)))
    assert.equal(await store.events.removeReceivedBefore(day0), 0)
    assert.ok(!grows())
    assert.equal(await store.events.removeLast(cameras[0], 5), 1)
    assert.ok(grows())
    await store.transaction(async ({ events }) => {
      await events.insert(eventAt(cameras[0], day0))
      assert.ok(!grows(), 'not before the commit')
    })
    assert.ok(grows())
    assert.deepEqual([store.version, notified], [version, []])
    await store.cameras.remove(cameras[0])
    assert.ok(grows())
  },
)

testEachDatabase('lists notice an event that another process adds', async (t, { openStore }) => {
  const { store, database, credentialsKey } = await openStore(t, { foreignIntervalMs: 20 })
  const owner = await store.users.insert({ email: 'a@b', firstName: 'A', lastName: 'B', passwordHash: '!' })
  const { id } = await store.cameras.insert({ ...source, name: 'Door', ownerId: owner.id })
  await using other = await openStoreFile({ database, credentialsKey, foreignIntervalMs: 0 })
  const before = store.eventsVersion
  await other.events.insert(eventAt(id, day0))
  await until(() => store.eventsVersion > before)
})

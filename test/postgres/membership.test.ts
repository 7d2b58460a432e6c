// Servers of a database that come, go, and come back.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { Membership } from '../../server/api/peers/membership.ts'
import { systemClock } from '../../server/base/clock.ts'
import { silentLogger } from '../../server/base/log.ts'
import type { RateLimitError } from '../../server/base/rate-limiter.ts'
import { openStore, type Store } from '../../server/store/store.ts'
import { eventually } from '../server-under-test.ts'
import { testPostgres } from './each-database.ts'
import type { TemporaryPostgres } from './temporary-postgres.ts'

async function open(t: TestContext, postgres: TemporaryPostgres) {
  const database = await postgres.createDatabase()
  const store = await openStore({ database, credentialsKey: randomBytes(32), foreignIntervalMs: 0 })
  t.after(() => store.close())
  const join = (name: string, { aheadMs = 0, holder = `on ${name}`, hasCameras = name === 'n1' } = {}) =>
    Membership.join({
      rows: store.nodes,
      leases: store.leases,
      self: { name, holder, address: '127.0.0.1:8444', hasCameras, processors: 2, version: '1.0.0' },
      clock: { ...systemClock, nowMs: () => Date.now() + aheadMs },
      log: silentLogger,
    })
  const expire = () => postgres.query('update nodes set expires_ms = expires_ms - 10000', database)
  return { store, join, expire }
}

async function addCamera(store: Store): Promise<number> {
  const { id: ownerId } = await store.users.insert({ email: 'a@x', firstName: 'A', lastName: 'B', passwordHash: '!' })
  const source = { type: 'h264', url: 'rtsp://h/', username: null, password: null } as const
  return (await store.cameras.insert({ ownerId, name: 'A', ...source })).id
}

testPostgres('a server finds the one with the cameras for as long as that reports', async (t, postgres) => {
  const { join, expire } = await open(t, postgres)
  const n2 = await join('n2')
  assert.throws(() => n2.findCameraServer(), /no server with cameras is running/)
  const n1 = await join('n1')
  const ended = new AbortController()
  const running = n2.run(ended.signal)
  t.after(async () => {
    ended.abort()
    await running
  })
  await eventually('n1 is found', 5000, async () => n2.size === 2)
  assert.deepEqual(n2.findCameraServer(), { name: 'n1', address: { host: '127.0.0.1', port: 8444 } })
  await expire()
  // Its own row comes back with the next report, and that of the other does not.
  await eventually('n1 is gone', 5000, async () => n2.size === 1)
  assert.throws(() => n2.findCameraServer(), /no server with cameras/)
  await n1[Symbol.asyncDispose]()
})

testPostgres('a camera of a server that has just come is found there', async (t, postgres) => {
  const { store, join } = await open(t, postgres)
  const cameraId = await addCamera(store)
  const n1 = await join('n1')
  const n3 = await join('n3', { hasCameras: true })
  await store.leases.take(n3.self, [cameraId])
  await n1.readLeases()
  assert.deepEqual(n1.findOwner(cameraId), { name: 'n3', address: { host: '127.0.0.1', port: 8444 } })
})

testPostgres('a camera can be deleted while its server reports of it', async (t, postgres) => {
  const { store, join } = await open(t, postgres)
  const cameraId = await addCamera(store)
  const n1 = await join('n1')
  const [lease] = await store.leases.take(n1.self, [cameraId])
  let removing: Promise<boolean> | undefined
  await store.fenced(lease, async ({ cameras }) => {
    removing ??= store.cameras.remove(cameraId)
    await delay(300)
    await cameras.setStatus(cameraId, { status: 'online' })
  })
  assert.equal(await removing, true)
})

testPostgres('a name has one server, and a data folder one process', async (t, postgres) => {
  const { store, join, expire } = await open(t, postgres)
  const first = await join('n1')
  await assert.rejects(join('n1', { holder: 'on m2' }), { kind: 'conflict', message: /n1, on n1: .*--node-name/ })
  // The process before was killed: its folder is locked by the new one.
  const restarted = await join('n1')
  await first[Symbol.asyncDispose]()
  assert.equal((await store.nodes.list()).length, 1, 'a former process does not sign the new one off')
  await expire()
  await join('n1', { holder: 'on m2' })
  const ended = new AbortController()
  const running = restarted.run(ended.signal)
  assert.match((await restarted.lost).message, /another server is called n1, on m2/)
  ended.abort()
  await running
  await restarted[Symbol.asyncDispose]()
  assert.deepEqual(
    (await store.nodes.list()).map(({ holder, isAlive }) => [holder, isAlive]),
    [['on m2', true]],
  )
})

testPostgres('of two machines that are taken for one, by their name and folder, one ends', async (t, postgres) => {
  const { store, join } = await open(t, postgres)
  const ended = new AbortController()
  const first = await join('n1')
  const second = await join('n1')
  const running = [first.run(ended.signal), second.run(ended.signal)]
  assert.match((await first.lost).message, /another server is called n1, on n1: .*--node-name/)
  ended.abort()
  await Promise.all(running)
  assert.equal((await store.nodes.list())[0]!.incarnation, second.self.incarnation)
})

testPostgres('a server has cameras, although its row has expired', async (t, postgres) => {
  const { store, join, expire } = await open(t, postgres)
  const n1 = await join('n1')
  await join('n2', { hasCameras: true })
  await expire()
  const cameraId = await addCamera(store)
  await store.leases.take((await join('n3', { hasCameras: true })).self, [cameraId])
  await n1.readLeases()
  assert.deepEqual(n1.withCameras.map(({ name }) => name), ['n1', 'n3']) // biome-ignore format: one line
})

testPostgres('a server whose clock differs from that of the database does not start', async (t, postgres) => {
  const { store, join } = await open(t, postgres)
  await assert.rejects(join('n1', { aheadMs: 2500 }), { kind: 'invalid', message: /is 2\.[45] s ahead of .*chrony/ })
  await assert.rejects(join('n1', { aheadMs: -2500 }), { kind: 'invalid', message: /is 2\.[45] s behind/ })
  assert.deepEqual(await store.nodes.list(), [])
  await join('n1', { aheadMs: 800 })
})

testPostgres('devices report as fast on several servers as on one', async (t, postgres) => {
  const { store } = await open(t, postgres)
  const { id: ownerId } = await store.users.insert({ email: 'a@x', firstName: 'A', lastName: 'B', passwordHash: '!' })
  const source = { type: 'h264', url: 'rtsp://h/', username: null, password: null } as const
  const [first, second] = [
    await store.cameras.insert({ ownerId, name: 'A', ...source }),
    await store.cameras.insert({ ownerId, name: 'B', ...source }),
  ]
  const take = ({ id }: { id: number }) => store.eventRates.take(id, { limit: 10, windowMs: 60_000 })
  const states = await Promise.all(Array.from({ length: 10 }, () => take(first)))
  assert.deepEqual(states.map(({ remaining }) => remaining).sort(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  await assert.rejects(take(first), (error: RateLimitError) => {
    assert.deepEqual([error.kind, error.rate.remaining, error.rate.limit], ['rate_limited', 0, 10])
    assert.ok(error.retryAfterSeconds! >= 1 && error.retryAfterSeconds! <= 6, `${error.retryAfterSeconds}`)
    return true
  })
  assert.equal((await take(second)).remaining, 9)
})

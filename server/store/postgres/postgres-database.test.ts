import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { inspect } from 'node:util'
import { testPostgres } from '../../../test/postgres/each-database.ts'
import type { TemporaryPostgres } from '../../../test/postgres/temporary-postgres.ts'
import { until } from '../../../test/support/until.ts'
import { systemClock } from '../../base/clock.ts'
import { type AppError, errorChain } from '../../base/error.ts'
import { silentLogger } from '../../base/log.ts'
import { ChangeFeed, type StoreChange } from '../engine/change-feed.ts'
import { openStore, type Store } from '../store.ts'
import { openPostgresDatabase } from './postgres-database.ts'
import { describePostgresUrl, isCompletePostgresUrl } from './postgres-url.ts'

const ada = { email: 'ada@example.org', firstName: 'Ada', lastName: 'Byron', passwordHash: 'x' }
const credentialsKey = new Uint8Array(32)

async function open(t: TestContext, database: string): Promise<{ store: Store; heard: StoreChange[] }> {
  const store = await openStore({ database, credentialsKey })
  t.after(() => store.close())
  const heard: StoreChange[] = []
  store.onChange((change) => heard.push(change))
  return { store, heard }
}

/** Terminates the server's connections to the database, as its owner may. */
function endConnections(postgres: TemporaryPostgres, database: string): Promise<unknown> {
  const name = new URL(database).pathname.slice(1)
  return postgres.query(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`)
}

test('addresses are shown without password and parameters', () => {
  const url = 'postgres://nightjar:s%40cret@db.example.org:5433/cameras?sslmode=verify-full&sslpassword=secret'
  assert.equal(describePostgresUrl(url), 'postgres://nightjar@db.example.org:5433/cameras')
  assert.equal(describePostgresUrl('postgresql:///cameras?host=/run/postgresql'), 'postgres:///cameras')
  assert.equal(
    describePostgresUrl('postgres://me:a%2Cb@h1:5433,h2,[fd00::1]:5434/cameras?x=y'),
    'postgres://me@h1:5433,h2,[fd00::1]:5434/cameras',
  )
  for (const wrong of ['postgres://h1,h2:x/n', 'postgres://h1,,h2:/', 'postgres://me:p,q/r@h1,h2/n'])
    assert.ok(!isCompletePostgresUrl(wrong), wrong)
  assert.deepEqual(['postgres://h/n', 'postgres://h/', 'postgres://h', 'nightjar.db'].map(isCompletePostgresUrl), [
    true,
    false,
    false,
    false,
  ])
})

testPostgres('while the server is down all is unavailable; afterwards it goes on by itself', async (t, postgres) => {
  const database = await postgres.createDatabase()
  const { store, heard } = await open(t, database)
  const user = await store.users.insert(ada)
  for (const how of ['fast', 'immediate'] as const) {
    await postgres.stop(how)
    await until(() => heard.includes('foreign'))
    const attempts = [store.users.list(), store.check(), store.transaction(({ users }) => users.insert(ada))]
    for (const result of await Promise.allSettled(attempts)) {
      assert.equal(result.status, 'rejected')
      assert.equal((result.reason as AppError).kind, 'unavailable')
      assert.match(
        errorChain(result.reason),
        /^the database postgres:\/\/tester@127\.0\.0\.1:\d+\/test_\w+ cannot be used: \S/,
      )
      assert.ok(!inspect(result.reason, { depth: 9, showHidden: true }).includes(postgres.password))
    }
    heard.length = 0
    await postgres.start()
    assert.deepEqual(await store.users.list(), [user])
    await until(() => heard.includes('foreign'))
  }
  await using other = await openStore({ database, credentialsKey, foreignIntervalMs: 0 })
  heard.length = 0
  await other.users.update(user.id, { lastName: 'Byron' })
  await until(() => heard.length > 0)
  assert.deepEqual(heard, ['accounts'])
})

testPostgres('other processes are told what has changed', async (t, postgres) => {
  const database = await postgres.createDatabase()
  const { store, heard } = await open(t, database)
  await using other = await openStore({ database, credentialsKey, foreignIntervalMs: 0 })
  const { id: ownerId } = await other.users.insert(ada)
  const camera = { name: 'Door', type: 'h264', url: 'rtsp://h/1', username: null, password: null, ownerId } as const
  const { id } = await other.cameras.insert(camera)
  const changes = async (work: () => Promise<unknown>) => {
    await delay(60)
    heard.length = 0
    const version = store.eventsVersion
    await work()
    await until(() => store.eventsVersion > version)
    return [...heard]
  }
  assert.deepEqual(await changes(() => other.cameras.update(id, { name: 'Garden' })), [{ camera: id }])
  assert.deepEqual(await changes(() => other.cameras.setStatus(id, { status: 'online' })), ['status'])
  assert.deepEqual(await changes(() => other.recordings.enable(id, { retention: 'P1D', maxBytes: null })), [
    { camera: id },
  ])
  assert.deepEqual(await changes(() => other.recordings.setStatus(id, 'RECORDING')), ['status'])
  assert.deepEqual(await changes(() => other.cameras.remove(id)), [{ camera: id }])
  // Too many to tell apart.
  const many = async () => {
    await other.transaction(async ({ cameras }) => {
      for (let i = 0; i < 150; i++) await cameras.insert(camera)
    })
  }
  assert.deepEqual(await changes(many), ['foreign'])
})

testPostgres(
  'a connection that ends in the middle of a transaction undoes it, and nothing else',
  async (t, postgres) => {
    const database = await postgres.createDatabase()
    const { store } = await open(t, database)
    const ended = store.transaction(async ({ users }) => {
      await users.insert(ada)
      await endConnections(postgres, database)
      await delay(50)
      await users.insert({ ...ada, email: 'b@x' })
    })
    await assert.rejects(ended, { kind: 'unavailable' })
    assert.deepEqual(await store.users.list(), [])
  },
)

testPostgres('a server that hangs keeps nobody from stopping', async (t, postgres) => {
  const database = await postgres.createDatabase()
  const { db, openWatch } = await openPostgresDatabase(database)
  const watch = await openWatch({ feed: new ChangeFeed(), intervalMs: 1, clock: systemClock, log: silentLogger })
  await db.selectFrom('users').selectAll().execute()
  const pids = await postgres.query<{ pid: number }>(
    `select pid from pg_stat_activity where datname = '${new URL(database).pathname.slice(1)}'`,
  )
  t.after(() => {
    for (const { pid } of pids) process.kill(pid, 'SIGCONT')
  })
  assert.equal(pids.length, 2)
  for (const { pid } of pids) process.kill(pid, 'SIGSTOP')
  const hanging = db
    .selectFrom('users')
    .selectAll()
    .execute()
    .catch((error: AppError) => error.kind)
  await delay(50)
  // Neither would end if it waited for an answer.
  await Promise.all([watch.close(), db.destroy()])
  assert.equal(await hanging, 'unavailable')
})

testPostgres('a server that refuses us stops the start with a reason', async (_t, postgres) => {
  const database = await postgres.createDatabase()
  await postgres.query(`create database ascii encoding 'SQL_ASCII' template template0`)
  const wrong = [
    [database.replace(postgres.password, 'wrong-password'), /password authentication failed/],
    [postgres.url('absent'), /database "absent" does not exist/],
    [database.replace(/:\d+\//, ':1/'), /ECONNREFUSED/],
    [postgres.url('ascii'), /the database encoding must be UTF8, but it is SQL_ASCII/],
  ] as const
  for (const [url, reason] of wrong) {
    await assert.rejects(openStore({ database: url, credentialsKey }), (error: AppError) => {
      assert.equal(error.kind, 'unavailable')
      assert.match(errorChain(error), reason)
      assert.ok(!/wrong-password/.test(inspect(error, { depth: 9, showHidden: true })))
      return true
    })
  }
})

testPostgres('of two transactions that wait for each other the one that is ended runs again', async (t, postgres) => {
  const { store } = await open(t, await postgres.createDatabase())
  const { id: first } = await store.users.insert(ada)
  const { id: second } = await store.users.insert({ ...ada, email: 'b@x' })
  const met = Promise.withResolvers<void>()
  let runs = 0
  const change = (lastName: string, [one, two]: readonly [number, number]) =>
    store.transaction(async ({ users }) => {
      await users.update(one, { lastName })
      if (++runs === 2) met.resolve()
      await met.promise
      await users.update(two, { lastName })
    })
  await Promise.all([change('A', [first, second]), change('B', [second, first])])
  assert.ok(runs > 2)
  const [one, two] = await store.users.list()
  assert.equal(one!.lastName, two!.lastName)
})

testPostgres('statements prepared before a newer version changed the tables are prepared anew', async (t, postgres) => {
  const database = await postgres.createDatabase()
  const { store } = await open(t, database)
  const { id: ownerId } = await store.users.insert(ada)
  const door = { ownerId, name: 'Door', type: 'h264', url: 'rtsp://h/', username: null, password: null } as const
  const { id } = await store.cameras.insert(door)
  assert.equal((await store.cameras.get(id)).name, 'Door')
  await postgres.query('alter table cameras add column colour text', database)
  await until(() =>
    store.cameras.get(id).then(
      (camera) => camera.name === 'Door',
      (error: AppError) => {
        assert.equal(error.kind, 'unavailable')
        return false
      },
    ),
  )
})

testPostgres('many commits of others in a row are few changes', async (t, postgres) => {
  const database = await postgres.createDatabase()
  const { store, heard } = await open(t, database)
  await using other = await openStore({ database, credentialsKey, foreignIntervalMs: 0 })
  // In parts, because a busy machine may need longer for all of them than they may wait for a connection.
  for (let part = 0; part < 10; part++) {
    const emails = Array.from({ length: 20 }, (_, i) => `${part * 20 + i}@x`)
    await Promise.all(emails.map((email) => other.users.insert({ ...ada, email })))
  }
  await delay(100)
  assert.ok(heard.length > 0 && heard.length < 100, `${heard.length} changes`)
  assert.equal((await store.users.list()).length, 200)
})

testPostgres('the connection that listens is made anew when only it ends', async (t, postgres) => {
  const database = await postgres.createDatabase()
  const { heard } = await open(t, database)
  const { db } = await openPostgresDatabase(database)
  t.after(() => db.destroy())
  await endConnections(postgres, database)
  // The loss and the restoration of the connection; between them, nothing is believed for long.
  await until(() => heard.filter((change) => change === 'foreign').length === 2)
  assert.deepEqual(new Set(heard.slice(1, -1)), new Set(heard.length > 2 ? ['records'] : []))
})

// One server per database, however it is reached and however a server ends.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { testEachDatabase, testPostgres } from '../../../test/postgres/each-database.ts'
import type { TemporaryPostgres } from '../../../test/postgres/temporary-postgres.ts'
import { until } from '../../../test/support/until.ts'
import { type Clock, systemClock } from '../../base/clock.ts'
import { silentLogger } from '../../base/log.ts'
import { openStore } from '../store.ts'
import { claimDatabase } from './database-claim.ts'

const claim = (database: string, dataDir = '/srv/nightjar/first', clock: Clock = systemClock) =>
  claimDatabase({ database, dataDir, clock, log: silentLogger })

/** A short deadline for waits that are expected to fail. */
const fastClock: Clock = {
  ...systemClock,
  monotonicMs: () => systemClock.monotonicMs() * 20,
  sleep: (ms, signal) => systemClock.sleep(ms / 20, signal),
}
const claimInVain = (database: string) => claim(database, '/srv/nightjar/second', fastClock)

/** True if the promise has resolved by now. */
const isSettled = (promise: Promise<unknown>) => Promise.race([promise.then(() => true), delay(0, false)])

testEachDatabase(
  'a database has one server; the next one learns which, and gets the database when that one ends',
  async (t, { create }) => {
    const database = await create(t)
    const first = await claim(database)
    await assert.rejects(claimInVain(database), (error: Error & { kind: string }) => {
      assert.equal(error.kind, 'conflict')
      assert.ok(error.message.includes(`on ${hostname().slice(0, 24)}`), error.message)
      assert.match(error.message, /srv\/nightjar\/first/)
      assert.doesNotMatch(error.message, /:\w+@/, 'no password')
      return true
    })
    assert.equal(await isSettled(first.lost), false)
    // Commands work beside it.
    const store = await openStore({ database, credentialsKey: new Uint8Array(32), foreignIntervalMs: 0 })
    await store.users.insert({ email: 'a@x', firstName: '', lastName: '', passwordHash: '!' })
    await store.close()
    // A server that starts while the other one is ending waits for it.
    const isPatient = database.startsWith('postgres')
    const waiting = isPatient ? claim(database, '/srv/nightjar/second') : undefined
    if (isPatient) await delay(300)
    await first[Symbol.asyncDispose]()
    const second = await (waiting ?? claim(database, '/srv/nightjar/second'))
    await second[Symbol.asyncDispose]()
  },
)

testEachDatabase('a server that is killed leaves its database free', async (t, { create }) => {
  const database = await create(t)
  const module = new URL('./database-claim.ts', import.meta.url).href
  const script = `
    import { claimDatabase } from ${JSON.stringify(module)}
    import { systemClock } from ${JSON.stringify(new URL('../../base/clock.ts', import.meta.url).href)}
    import { silentLogger } from ${JSON.stringify(new URL('../../base/log.ts', import.meta.url).href)}
    const [database] = process.argv.slice(1)
    globalThis.claim = await claimDatabase({ database, dataDir: '/killed', clock: systemClock, log: silentLogger })
    console.log('held')
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, database], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  await assert.rejects(claimInVain(database), { kind: 'conflict', message: /data in \/killed/ })
  child.kill('SIGKILL')
  await once(child, 'exit')
  await (await claim(database))[Symbol.asyncDispose]()
})

test('one file of SQLite, reached by two names', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'nightjar-claim-'))
  t.after(() => rm(folder, { recursive: true }))
  const linked = `${folder}-link`
  await symlink(folder, linked)
  t.after(() => rm(linked))
  await using _first = await claim(join(folder, 'cameras.db'))
  await assert.rejects(claim(join(linked, 'cameras.db')), { kind: 'conflict' })
  await using _other = await claim(join(folder, 'other.db'))
  await assert.rejects(claim(join(folder, 'nothing', 'cameras.db')), { kind: 'unavailable' })
})

const holders = "select pid from pg_locks where locktype = 'advisory' and classid = 8 and granted"

const untilHeld = (postgres: TemporaryPostgres, database: string) =>
  until(async () => (await postgres.query(holders, database).catch(() => [])).length > 0)

/** Terminates the connection that holds the lock, as the database's owner may. */
const cut = (postgres: TemporaryPostgres, database: string) =>
  postgres.query(`select pg_terminate_backend(pid) from (${holders}) as held`, database)

testPostgres('a claim whose connection is lost is taken again by itself', async (_t, postgres) => {
  const database = await postgres.createDatabase()
  await using first = await claim(database)
  for (let i = 0; i < 3; i++) {
    await cut(postgres, database)
    await untilHeld(postgres, database)
  }
  await postgres.stop('immediate')
  await assert.rejects(claim(database), { kind: 'unavailable', message: /cannot be used/ })
  await postgres.start()
  await untilHeld(postgres, database)
  assert.equal(await isSettled(first.lost), false)
  await assert.rejects(claimInVain(database), { kind: 'conflict' })
})

testPostgres('a server whose database was taken over learns by whom', async (_t, postgres) => {
  const database = await postgres.createDatabase()
  await using first = await claim(database)
  // Waits inside the database, so it is faster than the server that lost its connection.
  const usurper = new pg.Client({
    connectionString: database,
    application_name: 'nightjar 00000000 on other, data in /x',
  })
  await usurper.connect()
  const taken = usurper.query('select pg_advisory_lock(8, 0)')
  const waiting = "select 1 from pg_locks where locktype = 'advisory' and classid = 8 and not granted"
  await until(async () => (await postgres.query(waiting, database)).length > 0)
  await cut(postgres, database)
  await taken
  const error = await first.lost
  assert.equal(error.kind, 'conflict')
  assert.match(error.message, /another Nightjar server, on other, data in \/x/)
  await usurper.end()
})

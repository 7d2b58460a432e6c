// Databases that earlier versions have written.

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { Kysely, type Migration, Migrator, PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import { testEachDatabase } from '../../../test/postgres/each-database.ts'
import { postgresTypes } from '../postgres/postgres-types.ts'
import { createSqliteDialect, openSqlite } from '../sqlite/sqlite-dialect.ts'
import { openStore } from '../store.ts'
import { migrations } from './migrations.ts'

/** The tables as they were after `last`, when those of `missing` had not been written yet. */
async function openEarlier(database: string, last: string, missing: readonly string[] = []): Promise<Kysely<never>> {
  const dialect = database.startsWith('postgres')
    ? new PostgresDialect({ pool: new pg.Pool({ connectionString: database, types: postgresTypes }) })
    : createSqliteDialect(openSqlite(database))
  const db = new Kysely<never>({ dialect })
  const known = Object.entries(migrations).filter(([name]) => !missing.includes(name))
  const getMigrations = async (): Promise<Record<string, Migration>> => Object.fromEntries(known)
  const { error } = await new Migrator({ db, provider: { getMigrations } }).migrateTo(last)
  assert.equal(error, undefined)
  return db
}

testEachDatabase('accounts stay, recorded streams of before end', async (t, { create }) => {
  const database = await create(t)
  const earlier = await openEarlier(database, '0005-audit')
  await sql`insert into users (id, email, email_key, first_name, last_name, password_hash, created_at_ms)
    values (1, 'ada@x', 'ada@x', 'Ada', '', '!', 5)`.execute(earlier)
  await sql`insert into cameras (id, owner_id, name, type, url, event_api_hash, has_audio, status, created_at_ms)
    values (1, 1, 'Door', 'h264', 'rtsp://x/', 'h', 0, 'unknown', 5)`.execute(earlier)
  await sql`insert into streams (id, camera_id, user_id, start_ms, created_at_ms, state, speed)
    values ('aaaa', 1, 1, 5, 5, 'playing', 1)`.execute(earlier)
  await earlier.destroy()
  const store = await openStore({ database, credentialsKey: randomBytes(32), foreignIntervalMs: 0 })
  t.after(() => store.close())
  assert.equal((await store.users.get(1)).email, 'ada@x')
  assert.equal((await store.cameras.find(1))?.name, 'Door')
  assert.equal(await store.streams.find(Buffer.from('aaaa')), undefined)
})

testEachDatabase('steps that came into being beside each other are made up for in any order', async (t, { create }) => {
  const database = await create(t)
  await (await openEarlier(database, '0010-footage', ['0004-accounts', '0009-gap-marks'])).destroy()
  const store = await openStore({ database, credentialsKey: randomBytes(32), foreignIntervalMs: 0 })
  t.after(() => store.close())
  const { id } = await store.users.insert({ email: 'ada@x', firstName: 'Ada', lastName: '', passwordHash: '!' })
  assert.equal((await store.users.get(id)).isOwner, true)
})

testEachDatabase('marks of gaps from before they had a pass are of the first', async (t, { create }) => {
  const database = await create(t)
  const earlier = await openEarlier(database, '0019-damaged-pictures')
  await sql`insert into users (id, email, email_key, first_name, last_name, password_hash, created_at_ms)
    values (1, 'ada@x', 'ada@x', 'Ada', '', '!', 5)`.execute(earlier)
  await sql`insert into cameras (id, owner_id, name, type, url, event_api_hash, has_audio, status, created_at_ms)
    values (1, 1, 'Door', 'h264', 'rtsp://x/', 'h', 0, 'unknown', 5)`.execute(earlier)
  await sql`insert into gap_marks (camera_id, at_ms, reason) values (1, 5, 'disk_full'), (1, 9, null)`.execute(earlier)
  await earlier.destroy()
  const store = await openStore({ database, credentialsKey: randomBytes(32), foreignIntervalMs: 0 })
  t.after(() => store.close())
  const marks = [
    { atMs: 5, reason: 'disk_full' },
    { atMs: 9, reason: undefined },
  ]
  assert.deepEqual(await store.gapMarks.list(1, 0, 10), marks)
  await store.cameras.remove(1)
  assert.deepEqual(await store.gapMarks.list(1, 0, 10), [], 'they go with their camera')
})

testEachDatabase(
  'hashes of cameras from before they were sealed, or even digested, go on reporting events',
  async (t, { create }) => {
    for (const last of ['0007-guests', '0022-segments-with-sound']) {
      const database = await create(t)
      const earlier = await openEarlier(database, last)
      await sql`insert into users (id, email, email_key, first_name, last_name, password_hash, created_at_ms)
      values (1, 'ada@x', 'ada@x', 'Ada', '', '!', 5)`.execute(earlier)
      const hash = randomBytes(16).toString('hex')
      const digest = createHash('sha256').update(hash).digest()
      await sql`insert into cameras (id, owner_id, name, type, url, event_api_hash, has_audio, status, created_at_ms)
      values (1, 1, 'Door', 'h264', 'rtsp://x/', ${hash}, 0, 'unknown', 5)`.execute(earlier)
      if (last !== '0007-guests') await sql`update cameras set event_hash_digest = ${digest}`.execute(earlier)
      await earlier.destroy()
      const options = { database, credentialsKey: randomBytes(32), foreignIntervalMs: 0 }
      for (let start = 0; start < 2; start++) {
        await using store = await openStore(options)
        const camera = await store.cameras.findByEventApiHash(hash)
        assert.deepEqual([camera?.id, camera?.eventApiHash], [1, hash])
        assert.equal((await store.cameras.list())[0]?.eventApiHash, hash)
      }
      if (!database.startsWith('postgres')) {
        const left = await Promise.all(
          [database, `${database}-wal`].map((file) => readFile(file).catch(() => Buffer.alloc(0))),
        )
        assert.ok(!Buffer.concat(left).includes(hash), 'the file still has the hash in clear')
      }
    }
  },
)

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { sql } from 'kysely'
import { testEachDatabase } from '../../../test/postgres/each-database.ts'
import { openTemporaryStore } from '../../../test/support/store/temporary-store.ts'
import { openDatabase } from '../engine/open-database.ts'
import { openStore } from '../store.ts'
import { migrations, oldestSupported } from './migrations.ts'

test('a database that is up to date is left alone', async (t) => {
  const { database: file, credentialsKey } = await openTemporaryStore(t)
  const database = new DatabaseSync(file)
  const read = () => database.prepare('select type, name, sql from sqlite_schema order by name').all()
  const before = read()
  await (await openStore({ database: file, credentialsKey })).close()
  assert.deepEqual(read(), before)
  database.close()
})

testEachDatabase(
  'a database of a newer version is used if that supports this one, and left alone',
  async (t, scene) => {
    const { database, credentialsKey, store } = await scene.openStore(t)
    await store.users.insert({ email: 'ada@example.com', firstName: 'Ada', lastName: 'L', passwordHash: 'x' })
    const { db, close } = await openDatabase(database)
    t.after(close)
    const run = async (...statements: string[]) => {
      for (const statement of statements) await sql.raw(statement).execute(db)
    }
    const support = (name: string) => `update schema_support set oldest_migration = '${name}'`
    await run("insert into kysely_migration values ('9999-from-the-future', '')", support(oldestSupported))
    await using beside = await openStore({ database, credentialsKey })
    assert.equal((await beside.users.list()).length, 1)
    await run(support('9998-something-was-removed'))
    await assert.rejects(openStore({ database, credentialsKey }), { kind: 'unavailable', message: /newer version/ })
  },
)

test('steps since the previous release only add, so that its program can go on', async () => {
  const removes =
    /drop(?:Table|Column|Constraint|Index)|rename|alterColumn|setNotNull|\b(?:drop|rename) (?:table|column)/i
  assert.match("db.schema.alterTable('a').renameColumn('b', 'c')", removes)
  const files = (await readdir(import.meta.dirname)).filter((name) => /^\d{4}-.*\.ts$/.test(name))
  assert.deepEqual(
    files.map((name) => name.replace('.ts', '')).sort(),
    Object.keys(migrations),
    'one file for each step',
  )
  for (const name of files.filter((name) => name > `${oldestSupported}.ts`))
    assert.doesNotMatch(await readFile(join(import.meta.dirname, name), 'utf8'), removes, name)
  assert.ok(oldestSupported in migrations)
})

test('a database of a version before the first release is refused', async (t) => {
  const { database: file } = await openTemporaryStore(t)
  const database = new DatabaseSync(file)
  database.exec("update kysely_migration set name = '0001-accounts-cameras-segments' where name like '0001%'")
  database.close()
  await assert.rejects(openStore({ database: file, credentialsKey: randomBytes(32) }), {
    kind: 'unavailable',
    message: /before the first release/,
  })
})

testEachDatabase(
  'footage of the time with one folder is in the first place after the upgrade',
  async (t, { openStore: open }) => {
    const { store, database, credentialsKey } = await open(t)
    const opened = { cameraId: 3, runId: 'r', runStart90k: 0, placeId: 1, path: 'a.mp4', startMs: 1000, initBytes: 10 }
    const format = { codecs: '', width: 1, height: 1, initHash: '', gapReason: undefined }
    const ids = [
      await store.segments.insertOpen({ ...opened, ...format }),
      await store.segments.insertOpen({ ...opened, ...format, path: 'b.mp4' }),
    ]
    for (const id of ids) await store.segments.close(id, { endMs: 2000, bytes: 500, fragments: [] })
    await store.segments.markPendingDeletions([ids[1]!])
    await store.close()
    const { db } = await openDatabase(database)
    for (const step of [
      'alter table recordings drop column local_retention',
      'alter table segments drop column place_id',
      'alter table pending_deletions drop column place_id',
      'drop table places',
      'drop table copies',
      'drop table used_once',
      'drop table waiting_mails',
      'drop table failed_attempts',
      'drop table nodes',
      'drop table camera_leases',
      'drop table node_settings',
      'drop table camera_placements',
      'drop table kept_values',
      'drop table event_rates',
      'alter table streams drop column version',
      'drop table schema_support',
      'alter table tokens drop column expires_at_ms',
      'drop table footage',
      'create table footage (camera_id bigint not null primary key, bytes bigint not null, segments bigint not null)',
      'insert into footage values (3, 500, 1)',
      "delete from kysely_migration where name >= '0002-places'",
    ])
      await sql.raw(step).execute(db)
    await db.destroy()
    await using after = await openStore({ database, credentialsKey })
    assert.deepEqual(
      (await after.segments.listFiles(3, 0, 5000)).map(({ placeId, path }) => [placeId, path]),
      [[1, 'a.mp4']],
    )
    const counted = [{ cameraId: 3, placeId: 1, bytes: 500, segments: 1 }]
    assert.deepEqual([await after.segments.listUsage(), await after.segments.sumUsage(3)], [counted, counted])
    assert.deepEqual(await after.segments.listPendingDeletions(9), [{ id: ids[1], placeId: 1, path: 'b.mp4' }])
    assert.deepEqual(await after.places.list(), [])
    const values = { folder: '/a', mark: 'm', weight: 1 }
    const place = await after.places.add(values)
    assert.deepEqual(place, { ...values, id: 1, isDraining: false })
    await assert.rejects(after.places.add(values), { kind: 'conflict' })
    await assert.rejects(after.places.remove(1), { kind: 'conflict' })
  },
)

test('footage is found through the index alone, however the tables grow', async (t) => {
  const { database: file, store } = await openTemporaryStore(t)
  for (const mark of ['a', 'b']) await store.places.add({ folder: mark, mark, weight: 1 })
  const database = new DatabaseSync(file)
  const where = 'is_closed = 1 and camera_id = 1 and start_ms > 5 and start_ms < 9 and end_ms > 5'
  const plan = database
    .prepare(
      `explain query plan select start_ms, end_ms, run_id, gap_reason from segments where ${where} order by start_ms`,
    )
    .all()
  const audio = `${where} and codecs like '%,%'`
  const audioPlan = database.prepare(`explain query plan select id from segments where ${audio} limit 1`).all()
  const oldest = 'is_closed = 1 and camera_id = ? and place_id = ? and start_ms <= ? and end_ms <= ?'
  const placePlan = database
    .prepare(
      `explain query plan select id, start_ms, end_ms, bytes from segments where ${oldest} order by start_ms, id limit ?`,
    )
    .all()
  database.close()
  assert.equal(plan.length, 1)
  assert.match(String(plan[0]!.detail), /USING COVERING INDEX segments_by_time .*start_ms>\? AND start_ms<\?/)
  assert.equal(placePlan.length, 1)
  assert.match(String(placePlan[0]!.detail), /USING COVERING INDEX segments_of_place .*place_id=\? AND start_ms<\?/)
  assert.match(String(audioPlan[0]!.detail), /USING INDEX segments_with_audio .*start_ms>\? AND start_ms<\?/)
})

test('pages of events are found through an index alone, and counted without looking at one', async (t) => {
  const { database: file } = await openTemporaryStore(t)
  const database = new DatabaseSync(file)
  const explain = (query: string) =>
    database
      .prepare(`explain query plan ${query}`)
      .all()
      .map(({ detail }) => String(detail))
  for (const [column, index] of [
    ['owner_id', 'events_of_owner'],
    ['camera_id', 'events_of_camera'],
  ]) {
    const page = `select id from events where ${column} = 1 and occurred_at_ms >= 5 and occurred_at_ms < 9`
    const [plan, ...more] = explain(`${page} order by occurred_at_ms desc, id desc limit 9 offset 9`)
    assert.deepEqual(more, [])
    assert.match(
      plan!,
      new RegExp(`SEARCH events USING COVERING INDEX ${index} .*occurred_at_ms>\\? AND occurred_at_ms<`),
    )
  }
  const [total] = explain('select sum(count) from event_totals where owner_id = 1')
  assert.match(total!, /COVERING INDEX event_totals_of_owner/)
  const [camera] = explain("select * from cameras where event_hash_digest = x'00'")
  assert.match(camera!, /SEARCH cameras USING INDEX cameras_by_event_hash/)
  const [days] = explain('select sum(count) from event_days where owner_id = 1 and day >= 5 and day < 9')
  assert.match(days!, /COVERING INDEX event_days_of_owner/)
  database.close()
})

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { openStore } from './store.ts'
import { openTemporaryStore } from './temporary-store.ts'

test('a database that is up to date is left alone', async (t) => {
  const { database: file, credentialsKey } = await openTemporaryStore(t)
  const database = new DatabaseSync(file)
  const read = () => database.prepare('select type, name, sql from sqlite_schema order by name').all()
  const before = read()
  await (await openStore({ database: file, credentialsKey })).close()
  assert.deepEqual(read(), before)
  database.close()
})

test('a database of a newer version is not touched', async (t) => {
  const { database: file } = await openTemporaryStore(t)
  const database = new DatabaseSync(file)
  database.exec("insert into kysely_migration values ('9999-from-the-future', '')")
  database.close()
  await assert.rejects(openStore({ database: file, credentialsKey: randomBytes(32) }), {
    kind: 'unavailable',
    message: /newer version/,
  })
})

test('footage is found through the index alone, however the tables grow', async (t) => {
  const { database: file } = await openTemporaryStore(t)
  const database = new DatabaseSync(file)
  const where = 'is_closed = 1 and camera_id = 1 and start_ms > 5 and start_ms < 9 and end_ms > 5'
  const plan = database
    .prepare(
      `explain query plan select start_ms, end_ms, run_id, gap_reason from segments where ${where} order by start_ms`,
    )
    .all()
  database.close()
  assert.equal(plan.length, 1)
  assert.match(String(plan[0]!.detail), /USING COVERING INDEX segments_by_time .*start_ms>\? AND start_ms<\?/)
})

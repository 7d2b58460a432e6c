import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Kysely } from 'kysely'
import { createSqliteDialect, openSqlite } from './sqlite-dialect.ts'

type Numbers = { numbers: { id: number; value: number } }

async function openNumbers(t: TestContext, options: { maxTransactionMs?: number } = {}): Promise<Kysely<Numbers>> {
  const database = openSqlite(':memory:')
  database.exec('create table numbers (id integer primary key, value integer); insert into numbers values (1, 0)')
  const db = new Kysely<Numbers>({ dialect: createSqliteDialect(database, options) })
  t.after(() => db.destroy())
  return db
}

const add = (db: Kysely<Numbers>) =>
  db.transaction().execute(async (transaction) => {
    const { value } = await transaction.selectFrom('numbers').select('value').forUpdate().executeTakeFirstOrThrow()
    await new Promise(setImmediate)
    await transaction
      .updateTable('numbers')
      .set({ value: value + 1 })
      .execute()
  })

test('transactions and queries take turns', async (t) => {
  const db = await openNumbers(t)
  const steps = Array.from({ length: 50 }, (_, i) =>
    i % 2 === 0
      ? add(db)
      : db
          .updateTable('numbers')
          .set((of) => ({ value: of('value', '+', 1) }))
          .execute(),
  )
  await Promise.all(steps)
  assert.equal((await db.selectFrom('numbers').select('value').executeTakeFirstOrThrow()).value, 50)
})

test('a transaction that waits for a query outside of it fails, and the others go on', async (t) => {
  const db = await openNumbers(t, { maxTransactionMs: 50 })
  // Otherwise nothing would keep the process alive while the transaction waits.
  const awake = setInterval(() => {}, 1000)
  t.after(() => clearInterval(awake))
  const stuck = db.transaction().execute(async () => db.selectFrom('numbers').selectAll().execute())
  await assert.rejects(stuck, { kind: 'unavailable', message: /a transaction held the database/ })
  await add(db)
})

test('what SQLite has undone itself is not undone again', async (t) => {
  const db = await openNumbers(t)
  const failed = db.transaction().execute(async (transaction) => {
    await transaction.insertInto('numbers').orAbort().values({ id: 2, value: 0 }).execute()
    await transaction.insertInto('numbers').orRollback().values({ id: 1, value: 0 }).execute()
  })
  await assert.rejects(failed, /UNIQUE constraint failed/)
  assert.equal((await db.selectFrom('numbers').selectAll().execute()).length, 1)
})

// Several processes use one database concurrently: nothing is lost or done twice, and no process gives up.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { testEachDatabase } from '../../test/postgres/each-database.ts'

/** Runs `body` in four processes on the same database and returns their results. `at` is the number of the process. */
async function race<T>(database: string, credentialsKey: Uint8Array, body: string): Promise<T[]> {
  const from = (file: string) => JSON.stringify(new URL(file, import.meta.url).href)
  const program = `
    import { openDatabase } from ${from('./engine/open-database.ts')}
    import { openStore } from ${from('./store.ts')}
    import { inTransaction } from ${from('./engine/transaction.ts')}
    const [database, key, number] = process.argv.slice(1)
    const at = Number(number)
    const store = await openStore({ database, credentialsKey: Buffer.from(key, 'hex'), foreignIntervalMs: 0 })
    const { db } = await openDatabase(database)
    const run = async () => { ${body} }
    console.log(JSON.stringify(await run()))
    await store.close()
    await db.destroy()`
  const key = Buffer.from(credentialsKey).toString('hex')
  const results = [0, 1, 2, 3].map(async (at) => {
    const args = ['--input-type=module', '-e', program, database, key, String(at)]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
    assert.equal(code, 0)
    return JSON.parse(output) as T
  })
  return Promise.all(results)
}

const ada = { email: 'ada@example.org', firstName: 'Ada', lastName: '0', passwordHash: 'x' }

testEachDatabase('what was read with forUpdate() stays so until it is written', async (t, { openStore }) => {
  const { store, database, credentialsKey } = await openStore(t)
  const { id } = await store.users.insert(ada)
  await race(
    database,
    credentialsKey,
    `const add = () => inTransaction(db, async (transaction) => {
       const user = transaction.selectFrom('users').select('last_name').where('id', '=', ${id}).forUpdate()
       const { last_name } = await user.executeTakeFirstOrThrow()
       await new Promise(setImmediate)
       await transaction.updateTable('users').set({ last_name: String(Number(last_name) + 1) }).where('id', '=', ${id}).execute()
     })
     for (let i = 0; i < 10; i++) await Promise.all([add(), add(), add()])
     return true`,
  )
  assert.equal((await store.users.get(id)).lastName, '120')
})

testEachDatabase('a conditional update has one winner', async (t, { openStore }) => {
  const { store, database, credentialsKey } = await openStore(t)
  const { id } = await store.users.insert(ada)
  const wins = await race<number>(
    database,
    credentialsKey,
    `let wins = 0
     for (let generation = 0; generation < 40; generation++) {
       const won = await db.updateTable('users').set({ last_name: String(generation + 1) })
         .where('id', '=', ${id}).where('last_name', '=', String(generation)).returning('id').execute()
       wins += won.length
       while ((await store.users.get(${id})).lastName === String(generation)) await new Promise(setImmediate)
     }
     return wins`,
  )
  assert.equal(
    wins.reduce((sum, n) => sum + n),
    40,
  )
})

testEachDatabase('an id is given once, whether chosen by the caller or by the table', async (t, { openStore }) => {
  const { store, database, credentialsKey } = await openStore(t)
  const lists = await race<number[]>(
    database,
    credentialsKey,
    `const ids = []
     for (let i = 0; i < 20; i++) {
       const id = i % 2 ? 1000 * (4 * i + at) : undefined
       ids.push((await store.users.insert({ id, email: at + '-' + i, firstName: '', lastName: '', passwordHash: '' })).id)
     }
     return ids`,
  )
  assert.equal(new Set(lists.flat()).size, 80)
  assert.deepEqual(
    (await store.users.list()).map(({ id }) => id),
    lists.flat().sort((a, b) => a - b),
  )
})

testEachDatabase('of those who sign in while a password changes nobody stays signed in', async (t, { openStore }) => {
  const { store, database, credentialsKey } = await openStore(t)
  const { id } = await store.users.insert(ada)
  const [stale, ...counts] = await race<number>(
    database,
    credentialsKey,
    `const pause = () => new Promise((resolve) => setTimeout(resolve, 4))
     if (at === 0) {
       let stale = 0
       for (let i = 0; i < 30; i++) {
         const { user } = await store.accounts.change(${id}, { passwordHash: 'hash ' + i })
         await pause()
         for (const session of await store.sessions.list(${id})) {
           if (Number(session.id.split(' ')[0]) < user.credentialsVersion) stale++
         }
       }
       return stale
     }
     let made = 0
     for (let i = 0; i < 100; i++) {
       const { credentialsVersion } = await store.users.get(${id})
       await pause()
       const key = credentialsVersion + ' ' + at + ' ' + i
       const times = { createdAtMs: 5, seenAtMs: 5, passwordAtMs: 5 }
       const session = { id: key, hash: Buffer.from(key), userId: ${id}, credentialsVersion, ...times, ip: '', userAgent: null }
       try {
         await store.sessions.insert(session)
         made++
       } catch (error) {
         if (error.kind !== 'unauthenticated') throw error
       }
     }
     return made`,
  )
  assert.equal(stale, 0)
  assert.ok(counts.every((made) => made > 0))
})

import assert from 'node:assert/strict'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { silentLogger } from '../base/log.ts'
import { openCheckpoints } from './sqlite-checkpoints.ts'
import { openTemporaryStore } from './temporary-store.ts'

async function openPlace(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'nightjar-checkpoints-'))
  t.after(() => rm(folder, { recursive: true }))
  const pages: number[] = []
  const setAutoCheckpoint = (count: number) => void pages.push(count)
  return { folder, pages, settings: { intervalMs: 10, log: silentLogger, setAutoCheckpoint } }
}

test('what is committed moves into the database by itself, no commit has to do it, and the log begins anew', async (t) => {
  const { folder, pages, settings } = await openPlace(t)
  const file = join(folder, 'a.db')
  const database = new DatabaseSync(file)
  database.exec('pragma journal_mode = wal; pragma wal_autocheckpoint = 0; create table t (a)')
  const readForeignVersion = () => database.prepare('pragma data_version').get()!.data_version
  const foreignVersion = readForeignVersion()
  const checkpoints = await openCheckpoints({ file, ...settings })
  assert.deepEqual(pages, [16_384])
  const addMegabyte = async () => {
    const { size } = await stat(file)
    for (let i = 0; i < 10; i++) database.exec('insert into t values (zeroblob(100000))')
    for (let i = 0; i < 2000 && (await stat(file)).size < size + 900_000; i++) await delay(5)
    assert.ok((await stat(file)).size >= size + 900_000)
  }
  for (let i = 0; i < 5; i++) await addMegabyte()
  assert.ok((await stat(`${file}-wal`)).size < 4_000_000, 'five megabytes passed through it')
  assert.equal(readForeignVersion(), foreignVersion, 'nobody takes it for a commit of another process')
  await checkpoints.close()
  database.close()
})

test('without its thread a database checkpoints as it always did', async (t) => {
  const { folder, pages, settings } = await openPlace(t)
  const checkpoints = await openCheckpoints({ file: join(folder, 'no such folder', 'a.db'), ...settings })
  assert.deepEqual(pages, [1000])
  await checkpoints.close()
})

test('a store with the thread works and closes as one without', async (t) => {
  const { store } = await openTemporaryStore(t, { isServer: true })
  await store.users.insert({ email: 'a@example.com', firstName: '', lastName: '', passwordHash: '!' })
  assert.equal(await store.users.count(), 1)
})

import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { openTemporaryStore } from '../../../test/support/store/temporary-store.ts'
import { until } from '../../../test/support/until.ts'
import { silentLogger } from '../../base/log.ts'
import { SyncLoss } from '../engine/sync-loss.ts'
import { openCheckpoints } from './sqlite-checkpoints.ts'

/** The number of restarts in the header of the log. https://sqlite.org/fileformat2.html#walformat */
const checkpointSequenceOffset = 12

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
  t.after(() => database.close())
  database.exec('pragma journal_mode = wal; pragma wal_autocheckpoint = 0; create table t (a)')
  const readForeignVersion = () => database.prepare('pragma data_version').get()!.data_version
  const foreignVersion = readForeignVersion()
  const checkpoints = await openCheckpoints({ file, loss: new SyncLoss(file), ...settings })
  t.after(() => checkpoints.close())
  assert.deepEqual(pages, [16_384])
  const readBeginnings = async () => (await readFile(`${file}-wal`)).readUInt32BE(checkpointSequenceOffset)
  for (let round = 0; round < 5; round++) {
    const beginnings = await readBeginnings()
    for (let i = 0; i < 10; i++) database.exec('insert into t values (zeroblob(100000))')
    // The first commit after everything was moved restarts the log.
    await until(async () => {
      database.exec('insert into t values (0)')
      return (await readBeginnings()) > beginnings
    })
  }
  assert.ok((await stat(file)).size > 4_000_000)
  assert.equal(readForeignVersion(), foreignVersion, 'nobody takes it for a commit of another process')
})

test('without its thread a database checkpoints as it always did', async (t) => {
  const { folder, pages, settings } = await openPlace(t)
  const file = join(folder, 'no such folder', 'a.db')
  const checkpoints = await openCheckpoints({ file, loss: new SyncLoss(file), ...settings })
  assert.deepEqual(pages, [1000])
  await checkpoints.close()
})

test('a store with the thread works and closes as one without', async (t) => {
  const { store } = await openTemporaryStore(t, { isServer: true })
  await store.users.insert({ email: 'a@example.com', firstName: '', lastName: '', passwordHash: '!' })
  assert.equal(await store.users.count(), 1)
})

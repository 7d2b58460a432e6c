import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { SyncLoss } from '../engine/sync-loss.ts'
import { createLogSync } from './log-sync.ts'

test('the log of a database is synced as often as somebody asks, those who ask at once share it', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'nightjar-log-'))
  t.after(() => rm(folder, { recursive: true }))
  const file = join(folder, 'a.db')
  const log = createLogSync(file, new SyncLoss(file))
  await assert.rejects(log.sync(), { kind: 'unavailable' }, 'no database, no log')
  const database = new DatabaseSync(file)
  database.exec('pragma journal_mode = wal; create table t (a)')
  await log.sync()
  database.exec('insert into t values (1)')
  const [first, second, third] = [log.sync(), log.sync(), log.sync()]
  assert.notEqual(first, second, 'what runs may have begun too early')
  assert.equal(second, third)
  await Promise.all([first, second, third])
  await log.sync()
  await log.close()
  database.close()
})

test('a failed sync of the log is final: the next one would succeed and prove nothing', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'nightjar-log-'))
  t.after(() => rm(folder, { recursive: true }))
  const file = join(folder, 'a.db')
  const database = new DatabaseSync(file)
  database.exec('pragma journal_mode = wal; create table t (a)')
  const loss = new SyncLoss(file)
  let syncs = 0
  const log = createLogSync(file, loss, async () => {
    if (++syncs === 2) throw Object.assign(new Error('EIO'), { code: 'EIO' })
  })
  await log.sync()
  const [failing, waiting] = [log.sync(), log.sync()]
  await assert.rejects(failing, { kind: 'unavailable', message: /did not confirm/ })
  await assert.rejects(waiting, { kind: 'unavailable' })
  await assert.rejects(log.sync(), { kind: 'unavailable' })
  assert.equal(syncs, 2)
  assert.match((await loss.lost).message, /started again/)
  await log.close()
  database.close()
})

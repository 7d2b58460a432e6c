import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { testEachDatabase } from '../../test/postgres/each-database.ts'
import { openTemporaryStore } from '../../test/support/store/temporary-store.ts'
import { until } from '../../test/support/until.ts'
import type { AppError } from '../base/error.ts'
import type { StoreChange } from './engine/change-feed.ts'
import { openStore } from './store.ts'

const ada = { email: 'Ada@Example.org', firstName: 'Ada', lastName: 'Byron', passwordHash: 'x' }

async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'nightjar-store-'))
  t.after(() => rm(folder, { recursive: true }))
  return folder
}

test('a fresh file is made readable by its owner alone, and opens again with everything in it', async (t) => {
  const folder = await temporaryFolder(t)
  const options = { database: join(folder, 'n.db'), credentialsKey: randomBytes(32), foreignIntervalMs: 0 }
  const first = await openStore(options)
  assert.equal((await stat(options.database)).mode & 0o777, 0o600)
  assert.equal((await stat(`${options.database}-wal`)).mode & 0o777, 0o600)
  const user = await first.users.insert(ada)
  await first.close()
  await using second = await openStore(options)
  assert.deepEqual(await second.users.list(), [user])
})

testEachDatabase(
  'processes that open a fresh database at the same time settle on one set of tables',
  async (t, { create }) => {
    const database = await create(t)
    const key = randomBytes(32).toString('hex')
    const program = `
    import { openStore } from ${JSON.stringify(new URL('./store.ts', import.meta.url).href)}
    const store = await openStore({ database: process.argv[1], credentialsKey: Buffer.from(process.argv[2], 'hex') })
    await store.users.insert({ email: process.argv[3] + '@x', firstName: '', lastName: '', passwordHash: '' })
    await store.close()`
    const exits = ['a', 'b', 'c', 'd'].map(async (name) => {
      const args = ['--input-type=module', '-e', program, database, key, name]
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] })
      return (await once(child, 'exit'))[0]
    })
    assert.deepEqual(await Promise.all(exits), [0, 0, 0, 0])
    await using store = await openStore({ database, credentialsKey: Buffer.from(key, 'hex') })
    assert.equal((await store.users.list()).length, 4)
  },
)

test('a file that is no database, and the wrong key, stop the start with a reason', async (t) => {
  const folder = await temporaryFolder(t)
  const file = join(folder, 'n.db')
  await writeFile(file, 'not a database, but long enough to be taken for one'.repeat(20))
  const wrongFile = openStore({ database: file, credentialsKey: randomBytes(32) })
  await assert.rejects(wrongFile, (error: AppError) => error.kind === 'unavailable' && error.message.includes(file))

  const { database: made } = await openTemporaryStore(t)
  const wrongKey = openStore({ database: made, credentialsKey: randomBytes(32) })
  await assert.rejects(wrongKey, (error: AppError) => error.kind === 'corrupt' && /secret\.key/.test(error.message))
})

testEachDatabase('the version grows with what answers show, and listeners hear of it', async (t, database) => {
  const { store } = await database.openStore(t)
  const heard: StoreChange[] = []
  store.onChange((change) => heard.push(change))
  const changes = async (work: () => Promise<unknown>) => {
    const before = store.version
    heard.length = 0
    await work()
    assert.equal(store.version - before, heard.length)
    return heard.map((change) => (typeof change === 'object' ? `camera ${change.camera}` : change)).join()
  }
  const user = await store.users.insert(ada)
  const owned = { ownerId: user.id, name: 'Door', type: 'h264', username: null, password: null } as const
  const camera = await store.cameras.insert({ ...owned, url: 'rtsp://h/1' })
  const own = `camera ${camera.id}`
  assert.equal(await changes(() => store.accounts.change(user.id, { isDisabled: false })), 'accounts')
  assert.equal(await changes(() => store.cameras.update(camera.id, { name: 'Garage' })), own)
  assert.equal(await changes(() => store.recordings.enable(camera.id, { retention: 'P7D', maxBytes: null })), own)
  assert.equal(await changes(() => store.cameras.setStatus(camera.id, { status: 'online' })), 'status')
  assert.equal(await changes(() => store.cameras.setStatus(camera.id, { status: 'online' })), '')
  assert.equal(await changes(() => store.recordings.setStatus(camera.id, 'RECORDING')), 'status')
  assert.equal(await changes(() => store.tokens.setLastUsed(new Map([[1, 5]]))), '')
  assert.equal(await changes(() => store.cameras.remove(camera.id)), own)
  assert.equal(await changes(() => store.cameras.remove(camera.id)), '')
})

testEachDatabase('commits of another process are noticed, our own are not', async (t, database) => {
  const { store, database: place, credentialsKey } = await database.openStore(t, { foreignIntervalMs: 500 })
  await using other = await openStore({ database: place, credentialsKey, foreignIntervalMs: 0 })
  const heard: StoreChange[] = []
  store.onChange((change) => heard.push(change))
  const { id } = await store.users.insert(ada)
  await store.transaction(({ accounts }) => accounts.change(id, { phone: '1' }))
  await delay(600)
  assert.deepEqual(heard, ['accounts', 'accounts'])
  const version = store.version
  await other.accounts.change(id, { phone: '2' })
  await until(() => heard.length > 2)
  assert.deepEqual(heard, ['accounts', 'accounts', database.kind === 'SQLite' ? 'foreign' : 'accounts'])
  assert.ok(store.version > version)
  assert.equal((await store.users.get(id)).phone, '2')
})

test('no camera password is in the files of the database', async (t) => {
  const { store, database: file } = await openTemporaryStore(t)
  const { id: ownerId } = await store.users.insert(ada)
  const secret = { username: 'operator-name', password: 'correct horse battery' }
  const { id } = await store.cameras.insert({ ownerId, name: 'Door', type: 'h264', url: 'rtsp://h/', ...secret })
  await store.cameras.update(id, { password: 'staple of correct horses' })
  assert.equal((await store.cameras.get(id)).username, secret.username)
  for (const name of [file, `${file}-wal`]) {
    const bytes = (await readFile(name)).toString('latin1')
    for (const text of [secret.username, secret.password, 'staple of']) assert.ok(!bytes.includes(text), name)
  }
})

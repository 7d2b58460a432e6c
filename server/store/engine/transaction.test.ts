import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { testEachDatabase } from '../../../test/postgres/each-database.ts'
import type { StoreChange } from './change-feed.ts'

const ada = { email: 'ada@example.org', firstName: 'Ada', lastName: 'Byron', passwordHash: 'x' }

testEachDatabase(
  'a transaction happens completely or not at all, and is announced once, after the commit',
  async (t, { openStore }) => {
    const { store } = await openStore(t)
    const heard: StoreChange[] = []
    store.onChange((change) => heard.push(change))
    const failed = store.transaction(async ({ users }) => {
      await users.insert(ada)
      throw new Error('no')
    })
    await assert.rejects(failed, /^Error: no$/)
    assert.deepEqual([await store.users.list(), heard], [[], []])
    const user = await store.transaction(async ({ users, cameras, tokens }) => {
      const { id } = await users.insert(ada)
      const door = { ownerId: id, name: 'Door', type: 'h264', url: 'rtsp://h/', username: 'u', password: 'p' } as const
      const camera = await cameras.insert(door)
      await cameras.update(camera.id, { name: 'Garage' })
      await cameras.setStatus(camera.id, { status: 'online' })
      await tokens.setLastUsed(new Map([[1, 5]]))
      assert.deepEqual(heard, [])
      return users.update(id, { lastName: 'Lovelace' })
    })
    assert.deepEqual(heard, ['accounts', { camera: 1 }, 'status'])
    assert.deepEqual(await store.users.list(), [user])
    assert.equal((await store.cameras.list())[0]?.name, 'Garage')
  },
)

testEachDatabase('what happens beside a transaction is not part of it', async (t, { openStore }) => {
  const { store } = await openStore(t)
  const failed = store.transaction(async ({ users }) => {
    await users.insert(ada)
    await delay(20)
    await users.insert({ ...ada, email: 'b@x' })
    throw new Error('no')
  })
  const beside = store.users.insert({ ...ada, email: 'c@x' })
  const other = store.transaction(async ({ users }) => {
    await delay(5)
    return users.insert({ ...ada, email: 'd@x' })
  })
  await assert.rejects(failed, /^Error: no$/)
  const emails = [(await beside).email, (await other).email]
  assert.deepEqual((await store.users.list()).map(({ email }) => email).sort(), emails)
})

testEachDatabase(
  'two who change different things of one camera lose nothing of each other',
  async (t, { openStore }) => {
    const { store } = await openStore(t)
    const { id: ownerId } = await store.users.insert(ada)
    const door = { ownerId, name: 'Door', type: 'h264', url: 'rtsp://h/', username: 'u', password: 'p' } as const
    const { id } = await store.cameras.insert(door)
    await Promise.all([
      store.cameras.update(id, { name: 'Garage' }),
      store.cameras.update(id, { url: 'rtsp://h/2' }),
      store.cameras.update(id, { password: 'q' }),
    ])
    const { name, url, username, password } = await store.cameras.get(id)
    assert.deepEqual(
      { name, url, username, password },
      { name: 'Garage', url: 'rtsp://h/2', username: 'u', password: 'q' },
    )
  },
)

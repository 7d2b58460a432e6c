import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { testEachDatabase } from '../../../test/postgres/each-database.ts'
import { decideCameraRight } from '../../model/camera-access.ts'
import { openStore, type Store } from '../store.ts'

const none = { canViewRecordings: false, sharesNotifications: false }
const everything = { limit: 1000, offset: 0 }

const addUser = (store: Store, email: string) =>
  store.users.insert({ email, firstName: 'Ada', lastName: 'Lind', passwordHash: '!' })

const addCamera = (store: Store, ownerId: number, name = 'Door') =>
  store.cameras.insert({ ownerId, name, type: 'h264', url: 'rtsp://h/1', username: 'u', password: 'p' })

const listSharedIds = async (store: Store, userId: number) =>
  (await store.shares.listCameras(userId, everything)).map(({ camera }) => camera.id)

testEachDatabase('guests: an address once per camera, found through their camera alone', async (t, { openStore }) => {
  const { store } = await openStore(t)
  const { guests } = store
  const owner = await addUser(store, 'owner@x')
  const [door, garage] = [await addCamera(store, owner.id), await addCamera(store, owner.id, 'Garage')]
  const guest = await guests.insert({ ...none, cameraId: door.id, email: 'Ada@Example.org' })
  assert.deepEqual(guest, {
    id: guest.id,
    cameraId: door.id,
    email: 'Ada@Example.org',
    userId: null,
    firstName: null,
    lastName: null,
    ...none,
    createdAtMs: guest.createdAtMs,
    openedAtMs: null,
  })
  const again = { ...none, cameraId: door.id, email: 'ADA@example.org' }
  await assert.rejects(guests.insert(again), { kind: 'conflict' })
  await assert.rejects(guests.insert({ ...again, cameraId: 999 }), { kind: 'not_found' })
  const other = await guests.insert({ ...again, cameraId: garage.id })
  assert.deepEqual(await guests.find(door.id, guest.id), guest)
  assert.equal(await guests.find(garage.id, guest.id), undefined)
  assert.deepEqual(await guests.findByEmail(door.id, 'ada@EXAMPLE.org'), guest)
  const third = await guests.insert({ ...none, cameraId: door.id, email: 'c@x' })
  assert.deepEqual(await guests.listByCamera(door.id, { limit: 1, offset: 1 }), [third])
  assert.deepEqual([await guests.countByCamera(door.id), await guests.countSharedByOwner(owner.id)], [2, 2])

  const allowed = await guests.update(door.id, guest.id, { canViewRecordings: true })
  assert.deepEqual(allowed, { ...guest, canViewRecordings: true })
  assert.deepEqual(await guests.update(door.id, guest.id, {}), allowed)
  const updated = await guests.update(door.id, guest.id, { sharesNotifications: true })
  assert.deepEqual(updated, { ...allowed, sharesNotifications: true })
  await assert.rejects(guests.update(garage.id, guest.id, { canViewRecordings: false }), { kind: 'not_found' })
  assert.deepEqual(await guests.find(door.id, guest.id), updated)

  assert.equal(await guests.remove(garage.id, guest.id), false)
  assert.equal(await guests.remove(door.id, guest.id), true)
  assert.equal(await guests.remove(door.id, guest.id), false)
  assert.ok((await guests.insert(again)).id > third.id, 'ids are never used twice')
  await store.cameras.remove(garage.id)
  assert.equal(await guests.find(garage.id, other.id), undefined)
})

testEachDatabase('a guest row waits for an account of its address, and stays with that account', async (t, place) => {
  const { store } = await place.openStore(t)
  const owner = await addUser(store, 'owner@x')
  const camera = await addCamera(store, owner.id)
  const cameraId = camera.id
  const invite = (email: string) => store.guests.insert({ ...none, cameraId, email })
  const ofWhom = async (id: number) => (await store.guests.find(cameraId, id))!.userId

  const before = await invite('Ada@Bücher.example')
  const ada = await addUser(store, 'ada@xn--bcher-kva.example')
  assert.equal(await ofWhom(before.id), ada.id)
  const bob = await addUser(store, 'bob@x')
  assert.equal((await invite('BOB@x')).userId, bob.id)

  // Another address: its pending shares are added, existing ones stay.
  const waiting = await invite('ada@y')
  await store.accounts.change(ada.id, { email: 'Ada@Y' })
  assert.deepEqual([await ofWhom(before.id), await ofWhom(waiting.id)], [ada.id, ada.id])
  const heir = await addUser(store, 'ada@xn--bcher-kva.example')
  assert.deepEqual([await ofWhom(before.id), await listSharedIds(store, heir.id)], [ada.id, []])

  // Shared by two addresses: one camera, with the permissions of both.
  await store.guests.update(cameraId, before.id, { canViewRecordings: true })
  await store.guests.update(cameraId, waiting.id, { sharesNotifications: true })
  const [shared] = await store.shares.listCameras(ada.id, everything)
  assert.deepEqual(shared!.share, { canViewRecordings: true, sharesNotifications: true, isOpened: false })
  assert.equal(await store.shares.countCameras(ada.id), 1)

  // Nobody becomes a guest of their own camera.
  const own = await invite('owner@y')
  await store.accounts.change(owner.id, { email: 'owner@y' })
  assert.equal(await ofWhom(own.id), null)
  assert.equal((await store.guests.insert({ ...none, cameraId, email: 'x@x' })).userId, null)
  assert.deepEqual(await listSharedIds(store, owner.id), [])

  await store.accounts.remove(ada.id, { withCameras: false })
  assert.deepEqual(
    (await store.guests.listByCamera(cameraId, everything)).map(({ email }) => email),
    ['BOB@x', 'owner@y', 'x@x'],
  )
})

testEachDatabase(
  'a guest and the account of the address, made at the same moment, find each other',
  async (t, place) => {
    const { store } = await place.openStore(t)
    const owner = await addUser(store, 'owner@x')
    const { id: cameraId } = await addCamera(store, owner.id)
    for (let round = 0; round < 20; round++) {
      const email = `guest${round}@x`
      const [guest, user] = await Promise.all([
        store.guests.insert({ ...none, cameraId, email }),
        addUser(store, email),
      ])
      assert.equal((await store.guests.find(cameraId, guest.id))!.userId, user.id, email)
    }
  },
)

testEachDatabase('names are shown once the guest has looked, and the first look counts', async (t, { openStore }) => {
  const clock = { nowMs: () => now, monotonicMs: () => now, sleep: () => Promise.reject(new Error('no sleep')) }
  let now = 1000
  const { store } = await openStore(t, { clock })
  const [owner, ada, bob] = [await addUser(store, 'o@x'), await addUser(store, 'a@x'), await addUser(store, 'b@x')]
  const { id: cameraId } = await addCamera(store, owner.id)
  const { id } = await store.guests.insert({ ...none, cameraId, email: 'a@x' })
  const version = store.version
  await store.shares.setOpened(bob.id, cameraId)
  assert.equal(store.version, version)
  assert.equal((await store.guests.find(cameraId, id))!.firstName, null)
  await store.shares.setOpened(ada.id, cameraId)
  assert.equal(store.version, version + 1)
  now = 2000
  await store.shares.setOpened(ada.id, cameraId)
  assert.equal(store.version, version + 1)
  const guest = (await store.guests.find(cameraId, id))!
  assert.deepEqual([guest.firstName, guest.lastName, guest.openedAtMs], ['Ada', 'Lind', 1000])
})

testEachDatabase('T20: the list of shared cameras is what the rule makes a guest of', async (t, { openStore }) => {
  const { store } = await openStore(t)
  const users = []
  for (const name of ['a', 'b', 'c', 'd']) users.push(await addUser(store, `${name}@x`))
  const cameras = []
  for (const user of users) cameras.push(await addCamera(store, user.id), await addCamera(store, user.id))
  const random = randomNumbers(7)
  for (const camera of cameras) {
    for (const user of users) {
      if (user.id === camera.ownerId || random() < 0.4) continue
      const permissions = { canViewRecordings: random() < 0.5, sharesNotifications: random() < 0.5 }
      await store.guests.insert({ cameraId: camera.id, email: user.email, ...permissions })
      if (random() < 0.5) await store.shares.setOpened(user.id, camera.id)
    }
  }
  await store.accounts.change(users[3]!.id, { isDisabled: true })
  for (const { id: userId } of users.slice(0, 3)) {
    const user = await store.users.get(userId)
    const expected = []
    for (const { id, ownerId } of cameras) {
      const shares = await store.shares.list(userId, id)
      const right = decideCameraRight({ user, owner: await store.users.find(ownerId), shares })
      if (right.role !== 'guest') continue
      const { role: _, ...share } = right
      expected.push({ id, share })
    }
    const listed = await store.shares.listCameras(userId, everything)
    assert.deepEqual(
      listed.map(({ camera, share }) => ({ id: camera.id, share })),
      expected,
    )
    assert.equal(await store.shares.countCameras(userId), expected.length)
    const page = await store.shares.listCameras(userId, { limit: 2, offset: 1 })
    assert.deepEqual(page, listed.slice(1, 3))
  }
})

testEachDatabase(
  'a removed guest cannot make an account by the invitation to that camera',
  async (t, { openStore }) => {
    const { store } = await openStore(t)
    const owner = await addUser(store, 'o@x')
    const [door, garage] = [await addCamera(store, owner.id), await addCamera(store, owner.id)]
    const link = (cameraId: number, email: string) => {
      const hash = randomBytes(32)
      const expiresAtMs = Date.now() + 60_000
      return store.links
        .insert({ kind: 'invitation', hash, email, inviterId: owner.id, cameraId, expiresAtMs })
        .then(() => hash)
    }
    const { id } = await store.guests.insert({ ...none, cameraId: door.id, email: 'Ada@x' })
    const [removed, other, elsewhere] = [
      await link(door.id, 'ADA@x'),
      await link(door.id, 'bob@x'),
      await link(garage.id, 'ada@x'),
    ]
    await store.guests.remove(door.id, id)
    const isThere = async (hash: Uint8Array) => (await store.links.find('invitation', hash)) !== undefined
    assert.deepEqual([await isThere(removed), await isThere(other), await isThere(elsewhere)], [false, true, true])
  },
)

testEachDatabase('other processes hear of guests', async (t, place) => {
  const { store, database, credentialsKey } = await place.openStore(t, { foreignIntervalMs: 50 })
  await using other = await openStore({ database, credentialsKey, foreignIntervalMs: 0 })
  const owner = await addUser(store, 'o@x')
  const { id: cameraId } = await addCamera(store, owner.id)
  const heard = async (work: () => Promise<unknown>) => {
    const change = new Promise<string>((resolve) => {
      const stop = store.onChange((kind) => {
        stop()
        resolve(String(kind))
      })
    })
    await work()
    return change
  }
  let id = 0
  const insert = async () => {
    id = (await other.guests.insert({ ...none, cameraId, email: 'a@x' })).id
  }
  const expected = place.kind === 'SQLite' ? 'foreign' : 'records'
  assert.equal(await heard(insert), expected)
  assert.equal(await heard(() => other.guests.update(cameraId, id, { canViewRecordings: true })), expected)
  assert.equal(await heard(() => other.guests.remove(cameraId, id)), expected)
})

/** The same in every run: mulberry32. */
function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

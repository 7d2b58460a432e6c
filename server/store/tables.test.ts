import assert from 'node:assert/strict'
import { testEachDatabase } from '../../test/postgres/each-database.ts'
import type { Stream } from './footage/streams.ts'

const ada = { email: 'Ada@Example.org', firstName: 'Ada', lastName: 'Byron', passwordHash: 'hash-1' }
const door = { name: 'Door', type: 'h264', url: 'rtsp://h/1', username: 'u', password: 'p' } as const

testEachDatabase(
  'users: addresses are one account without regard to case; ids may be given and are never used twice',
  async (t, { openStore }) => {
    const { store } = await openStore(t)
    const { users } = store
    const user = await users.insert({ ...ada, id: 500 })
    assert.equal(user.id, 500)
    assert.equal(user.email, 'Ada@Example.org')
    assert.deepEqual(await users.findByEmail('ada@example.ORG '), user)
    assert.deepEqual(await users.findLogin('ADA@example.org'), { user, passwordHash: 'hash-1' })
    await assert.rejects(users.insert({ ...ada, email: 'ADA@example.org' }), {
      kind: 'conflict',
      message: /already an/,
    })
    await assert.rejects(users.insert({ ...ada, id: 500, email: 'b@x' }), {
      kind: 'conflict',
      message: /id 500 is taken/,
    })
    assert.ok((await users.insert({ ...ada, email: 'c@x' })).id > 500)
    assert.deepEqual(await users.update(500, {}), user)
    assert.equal((await users.update(500, { lastName: 'Lovelace', phone: '+44' })).lastName, 'Lovelace')
  },
)

testEachDatabase('cameras: pages by owner, changes, status', async (t, { openStore }) => {
  const { store } = await openStore(t)
  const { id: ownerId } = await store.users.insert(ada)
  const other = await store.users.insert({ ...ada, email: 'b@x' })
  const { cameras } = store
  const first = await cameras.insert({ ...door, ownerId, id: 7 })
  assert.match(first.eventApiHash, /^[0-9a-f]{32}$/)
  assert.deepEqual([first.username, first.password, first.status, first.hasAudio], ['u', 'p', 'unknown', false])
  await cameras.insert({ ...door, ownerId: other.id })
  for (const name of ['B', 'C']) await cameras.insert({ ...door, name, ownerId, username: null, password: null })
  assert.deepEqual(
    (await cameras.listByOwner(ownerId, { limit: 2, offset: 1 })).map((camera) => [camera.name, camera.username]),
    [
      ['B', null],
      ['C', null],
    ],
  )
  assert.equal(await cameras.countByOwner(ownerId), 3)
  assert.equal((await cameras.list()).length, 4)
  await assert.rejects(cameras.insert({ ...door, ownerId, id: 7 }), { kind: 'conflict' })
  await assert.rejects(cameras.insert({ ...door, ownerId: 99 }), { kind: 'not_found' })
  assert.deepEqual(await cameras.findByEventApiHash(first.eventApiHash), first)

  assert.deepEqual(await cameras.update(7, { name: 'Garage', password: null }), {
    ...first,
    name: 'Garage',
    password: null,
  })
  const detail = 'The camera refused the password.'
  await cameras.setStatus(7, { status: 'offline', reason: 'auth_failed', code: 'login_refused', detail })
  await cameras.setFormat(7, { type: 'h265', hasAudio: true })
  await cameras.setSnapshotAt(7, 1234)
  const camera = await cameras.get(7)
  assert.deepEqual(
    [camera.status, camera.statusReason, camera.statusCode, camera.statusDetail, camera.type, camera.hasAudio],
    ['offline', 'auth_failed', 'login_refused', detail, 'h265', true],
  )
  assert.equal(camera.snapshotAtMs, 1234)
  await cameras.resetStatus()
  const reset = await cameras.get(7)
  assert.deepEqual([reset.statusReason, reset.statusCode, reset.statusDetail], [null, null, null])

  const newest = (await cameras.list()).at(-1)!
  assert.equal(await cameras.remove(newest.id), true)
  assert.ok((await cameras.insert({ ...door, ownerId })).id > newest.id)
  await assert.rejects(cameras.get(newest.id), { kind: 'not_found' })
  assert.equal(await cameras.find(Number.MAX_SAFE_INTEGER), undefined)
  await assert.rejects(cameras.update(7, { name: 'a\0b' }), { kind: 'invalid' })
})

testEachDatabase('recordings: on, changed, off, on again; gone with the camera', async (t, { openStore }) => {
  const { store } = await openStore(t)
  const { id: ownerId } = await store.users.insert(ada)
  const { id } = await store.cameras.insert({ ...door, ownerId })
  const { recordings } = store
  assert.equal(await recordings.disable(id), false)
  const on = await recordings.enable(id, { retention: 'P7D', maxBytes: null })
  const changed = await recordings.enable(id, { retention: 'PT12H', maxBytes: 1e12 })
  assert.deepEqual(changed, { ...on, retention: 'PT12H', maxBytes: 1e12 })
  await recordings.setStatus(id, 'ERROR', 'The disk is full.')
  assert.equal((await recordings.find(id))?.statusDetail, 'The disk is full.')
  assert.equal(await recordings.disable(id), true)
  const off = (await recordings.find(id))!
  assert.deepEqual([off.status, off.statusDetail, off.deactivatedAtMs === null], ['READY', null, false])
  const again = await recordings.enable(id, { retention: 'P1D', maxBytes: null })
  assert.deepEqual([again.activeServiceId, again.deactivatedAtMs], [on.activeServiceId, null])
  assert.deepEqual(await recordings.listByCameras([id, 99]), [again])
  assert.deepEqual(await recordings.listByCameras([]), [])
  await assert.rejects(recordings.enable(99, { retention: 'P7D', maxBytes: null }), { kind: 'not_found' })
  await store.cameras.remove(id)
  assert.deepEqual(await recordings.list(), [])
})

testEachDatabase(
  'recordings: stopped and started while they are on, never ended sooner by a start',
  async (t, { openStore }) => {
    const { store } = await openStore(t)
    const { id: ownerId } = await store.users.insert(ada)
    const { id } = await store.cameras.insert({ ...door, ownerId })
    const { recordings } = store
    const policy = { retention: 'P7D', maxBytes: null }
    const until = async () => (await recordings.find(id))?.recordsUntilMs
    await recordings.start(id, null)
    await assert.rejects(recordings.update(id, policy), { kind: 'not_found' })
    await recordings.enable(id, policy)
    await recordings.start(id, 5000)
    assert.equal(await until(), null)
    await recordings.stop(id)
    assert.deepEqual(await recordings.update(id, { retention: 'P8D', maxBytes: null }), {
      ...(await recordings.find(id)),
      retention: 'P8D',
      recordsUntilMs: 0,
    })
    await recordings.start(id, 5000)
    await recordings.start(id, 4000)
    assert.equal(await until(), 5000)
    await recordings.start(id, null)
    assert.equal(await until(), null)
    await recordings.stop(id)
    assert.equal((await recordings.enable(id, policy)).recordsUntilMs, null)
    await recordings.stop(id)
    await recordings.disable(id)
    await recordings.start(id, null)
    assert.equal(await until(), 0)
  },
)

testEachDatabase('tokens: live until revoked or the account is disabled', async (t, { openStore }) => {
  const { store } = await openStore(t)
  const { id: userId } = await store.users.insert(ada)
  const { tokens } = store
  const hash = new Uint8Array(32).fill(5)
  const shown = { userId, name: 'script', scopes: ['read', 'write'], prefix: 'njp_', lastFour: 'wxyz' }
  const token = await tokens.insert({ ...shown, hash, isChecksumValid: true })
  const live = { id: token.id, userId, scopes: ['read', 'write'], expiresAtMs: null, credentialsVersion: 1 }
  assert.deepEqual(await tokens.findLiveByHash(hash), live)
  assert.deepEqual(await tokens.findLive(token.id), live)
  assert.equal(await tokens.hasUncheckable(), false)
  await assert.rejects(tokens.insert({ ...shown, hash, isChecksumValid: true }), { kind: 'conflict' })
  await assert.rejects(tokens.insert({ ...shown, userId: 9, hash: new Uint8Array(32), isChecksumValid: true }), {
    kind: 'not_found',
  })
  await tokens.setLastUsed(new Map([[token.id, 77]]))
  assert.equal((await tokens.list(userId))[0]?.lastUsedAtMs, 77)

  assert.equal(await tokens.revoke(token.id), true)
  assert.equal(await tokens.revoke(token.id), false)
  assert.equal(await tokens.findLive(token.id), undefined)
  await assert.rejects(tokens.revoke(99), { kind: 'not_found' })
  assert.equal((await tokens.list())[0]?.lastFour, 'wxyz')

  await tokens.insert({ ...shown, hash: new Uint8Array(32), isChecksumValid: false })
  assert.equal(await tokens.hasUncheckable(), true)
})

testEachDatabase('streams: of a user the newest stay, and those of others', async (t, { openStore }) => {
  const { store } = await openStore(t)
  const { id: userId } = await store.users.insert(ada)
  const { id: otherId } = await store.users.insert({ ...ada, email: 'other@example.com' })
  const { id: cameraId } = await store.cameras.insert({ ...door, ownerId: userId })
  const { streams } = store
  const opened = { cameraId, startMs: 5, endMs: undefined, state: 'playing', speed: 1 } as const
  const rest = { credential: { kind: 'grant', id: 1 }, listing: undefined, currentMs: undefined, version: 0 } as const
  const insert = async (byte: number, owner: number, createdAtMs: number) => {
    const hash = new Uint8Array(32).fill(byte)
    await streams.insert({ ...opened, ...rest, userId: owner, hash, createdAtMs })
    return hash
  }
  const others = await insert(99, otherId, 1)
  const hashes: Uint8Array[] = []
  for (let i = 1; i <= 5; i++) hashes.push(await insert(i, userId, 100 + i))
  assert.deepEqual(await streams.removeOldest(userId, 5, hashes[4]!), [])
  // The clock was set back: the stream that was just created stays.
  const newest = await insert(6, userId, 50)
  const removed = await streams.removeOldest(userId, 3, newest)
  assert.deepEqual(removed.map((hash) => hash[0]).sort(), [1, 2, 3])
  for (const hash of [others, hashes[3]!, hashes[4]!, newest]) assert.ok(await streams.find(hash))
  for (const hash of hashes.slice(0, 3)) assert.equal(await streams.find(hash), undefined)
})

testEachDatabase('streams: kept until too old or without their camera', async (t, { openStore }) => {
  const { store } = await openStore(t)
  const { id: userId } = await store.users.insert(ada)
  const { id: cameraId } = await store.cameras.insert({ ...door, ownerId: userId })
  const { streams } = store
  const credential = { kind: 'grant', id: 2 ** 40 } as const
  const opened = { cameraId, userId, credential, startMs: 5, endMs: undefined, state: 'playing', speed: 1 } as const
  const stream: Stream = {
    ...opened,
    hash: new Uint8Array(32).fill(7),
    createdAtMs: 100,
    listing: undefined,
    currentMs: undefined,
    version: 0,
  }
  await streams.insert(stream)
  const read = async () => {
    const found = await streams.find(stream.hash)
    return found && { ...found, hash: Uint8Array.from(found.hash) }
  }
  assert.deepEqual(await read(), stream)
  const paused = { state: 'paused', listing: '{"a":1}', currentMs: 9, speed: 0.5 } as const
  await streams.update(stream.hash, paused)
  assert.deepEqual(await read(), { ...stream, ...paused })
  await streams.update(stream.hash, { state: 'playing', listing: undefined })
  await streams.update(stream.hash, {})
  assert.equal((await streams.find(stream.hash))?.listing, undefined)
  // Of two that have read the same version, one changes it.
  const changes = [4, 8].map((speed) => streams.update(stream.hash, { speed }, 0))
  assert.deepEqual((await Promise.all(changes)).sort(), [false, true])
  assert.equal((await streams.find(stream.hash))?.version, 1)
  await streams.removeExpired(100)
  assert.ok(await streams.find(stream.hash))
  await streams.removeExpired(101)
  assert.equal(await streams.find(stream.hash), undefined)
  await streams.insert(stream)
  await store.cameras.remove(cameraId)
  assert.equal(await streams.find(stream.hash), undefined)
})

testEachDatabase(
  'gap marks: the one that holds and those of a range; old ones go, and all with the camera',
  async (t, { openStore }) => {
    const { store } = await openStore(t)
    const { id: ownerId } = await store.users.insert(ada)
    const { id } = await store.cameras.insert({ ...door, ownerId })
    const other = await store.cameras.insert({ ...door, ownerId })
    const { gapMarks } = store
    const marks = [
      { atMs: 1_700_000_000_000, reason: 'no_frames' },
      { atMs: 1_700_000_010_000, reason: undefined },
      { atMs: 1_700_000_020_000, reason: 'disk_full' },
    ]
    for (const mark of marks) await gapMarks.add(id, mark)
    await gapMarks.add(other.id, { atMs: 1_700_000_015_000, reason: 'overload' })
    assert.deepEqual(await gapMarks.list(id, 1_700_000_010_000, 1_700_000_020_000), marks.slice(1))
    assert.deepEqual(await gapMarks.list(id, 1_700_000_015_000, 1_700_000_016_000), [marks[1]])
    assert.deepEqual(await gapMarks.list(id, 0, 1), [])
    await gapMarks.add(id, { ...marks[2]!, reason: 'server_down' })
    assert.equal((await gapMarks.list(id, 2e12, 2e12))[0]?.reason, 'server_down')
    await gapMarks.removeBefore(id, 1_700_000_012_000)
    assert.deepEqual((await gapMarks.list(id, 0, 2e12)).length, 2)
    await gapMarks.removeBefore(id, 0)
    assert.deepEqual((await gapMarks.list(id, 0, 2e12)).length, 2)
    await store.cameras.remove(id)
    assert.deepEqual(await gapMarks.list(id, 0, 2e12), [])
    await gapMarks.add(id, marks[0]!)
    assert.deepEqual(await gapMarks.list(id, 0, 2e12), [], 'a camera that is gone has none')
    assert.equal((await gapMarks.list(other.id, 0, 2e12)).length, 1)
  },
)

testEachDatabase(
  'gap marks of hours that are recorded again stay apart from the first ones',
  async (t, { openStore }) => {
    const { store } = await openStore(t)
    const { id: ownerId } = await store.users.insert(ada)
    const { id } = await store.cameras.insert({ ...door, ownerId })
    const { gapMarks } = store
    const first = [1000, 2000, 3000].map((atMs) => ({ atMs, reason: 'no_frames' }))
    const second = [1500, 2000, 2500].map((atMs) => ({ atMs, reason: 'disk_full', epoch: 1 }))
    for (const mark of [...first, ...second]) await gapMarks.add(id, mark)
    assert.deepEqual(await gapMarks.list(id, 2000, 4000), [...first.slice(1), ...second.slice(1)])
    assert.deepEqual(await gapMarks.list(id, 1200, 1200), [first[0]])
    assert.deepEqual(await gapMarks.findNewest(id), second[2])
    const earlier = { atMs: 1800, reason: 'server_down', epoch: 1 }
    await gapMarks.add(id, earlier)
    assert.deepEqual(
      await gapMarks.list(id, 0, 4000),
      [...first, second[0], earlier],
      'the clock was set back once more',
    )
    await gapMarks.removeBefore(id, 1600, 1)
    assert.deepEqual(await gapMarks.list(id, 0, 4000), [second[0], earlier])
    const again = { atMs: 900, reason: undefined }
    await gapMarks.add(id, again)
    assert.deepEqual(await gapMarks.list(id, 0, 4000), [again], 'nothing was recorded in the later epoch')
  },
)

testEachDatabase('the time by which things are deleted is one row', async (t, { openStore }) => {
  const { store } = await openStore(t)
  assert.equal(await store.trustedTimes.find(), undefined)
  const time = { timeMs: 1_700_000_000_000, doubtedMs: 60_000, leastMs: -31_536_000_000 }
  await store.trustedTimes.write({ timeMs: 1.6, doubtedMs: 0, leastMs: 0 })
  assert.deepEqual(await store.trustedTimes.find(), { timeMs: 2, doubtedMs: 0, leastMs: 0 })
  await store.trustedTimes.write(time)
  assert.deepEqual(await store.trustedTimes.find(), time)
})

testEachDatabase('cameras: of those that are added at once, as many as fit', async (t, { openStore }) => {
  const { store } = await openStore(t)
  const owner = await store.users.insert({ email: 'a@example.com', firstName: '', lastName: '', passwordHash: '!' })
  const source = { url: 'rtsp://h/', username: null, password: null, type: 'h264', name: 'x' } as const
  const adding = Array.from({ length: 6 }, () => store.cameras.insert({ ownerId: owner.id, ...source, maxOfOwner: 2 }))
  const results = await Promise.allSettled(adding)
  assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 2)
  assert.equal(await store.cameras.countByOwner(owner.id), 2)
  await store.cameras.insert({ ownerId: owner.id, ...source })
})

testEachDatabase('cameras: an address that holds a password is given back whole', async (t, { openStore }) => {
  const { store } = await openStore(t)
  const owner = await store.users.insert({ email: 'a@example.com', firstName: '', lastName: '', passwordHash: '!' })
  const url = 'rtsp://h/user=a_password=hunter2_channel=1.sdp'
  const bare = { url, username: null, password: null, type: 'h264', name: 'x' } as const
  const { id } = await store.cameras.insert({ ownerId: owner.id, ...bare })
  assert.equal((await store.cameras.get(id)).url, url)
  assert.equal((await store.cameras.update(id, { name: 'y', username: 'b', password: 'c' })).url, url)
  const { username, password } = await store.cameras.get(id)
  assert.deepEqual([username, password], ['b', 'c'])
  assert.equal((await store.cameras.update(id, { url: 'rtsp://h/1' })).url, 'rtsp://h/1')
  assert.deepEqual([(await store.cameras.get(id)).username], ['b'])
})

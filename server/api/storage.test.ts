import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Storage } from '../../contract/storage.ts'
import { createTemporaryStorage, openTemporaryApi } from '../../test/support/api/temporary-api.ts'
import { type Clock, systemClock } from '../base/clock.ts'
import type { Store } from '../store/store.ts'

const hourMs = 3_600_000
const nowMs = Date.UTC(2026, 6, 1, 12)

async function addFootage({ segments, recordings }: Store, cameraId: number, hours: number, bytes: number) {
  await recordings.enable(cameraId, { retention: 'P30D', maxBytes: null })
  for (let hour = hours; hour > 0; hour--) {
    const startMs = nowMs - hour * hourMs
    const id = await segments.insertOpen({
      ...{
        cameraId,
        startMs,
        path: `cameras/${cameraId}/${hour}.mp4`,
        runId: 'r',
        runStart90k: 0,
        placeId: 1,
        initBytes: 0,
      },
      ...{ codecs: '', width: 1, height: 1, initHash: '', gapReason: undefined },
    })
    await segments.close(id, { endMs: startMs + hourMs, bytes, fragments: [] })
  }
}

async function openScene(t: TestContext) {
  let monotonicMs = 0
  const clock: Clock = { ...systemClock, nowMs: () => nowMs, monotonicMs: () => monotonicMs }
  const temporary = await openTemporaryApi(t, { clock })
  const { api, store, addUser, addCamera } = temporary
  const owner = await addUser('owner@example.com', ['user_access', 'account_manage'])
  const user = await addUser('user@example.com', ['user_access', 'account_manage'])
  const cameras = [await addCamera(user.userId), await addCamera(user.userId, 'Yard'), await addCamera(owner.userId)]
  await addFootage(store, cameras[0]!, 48, 1_000_000)
  await addFootage(store, cameras[2]!, 12, 2_000_000)
  const ask = async (
    who: { authorization: string },
    path = '/v1/me/storage/',
    payload?: Record<string, unknown>,
  ): Promise<{ status: number; body: Storage & { title: string } }> => {
    const answer = await api.server.inject({
      method: payload ? 'PUT' : 'GET',
      url: path,
      headers: { authorization: who.authorization },
      ...(payload && { payload }),
    })
    return { status: answer.statusCode, body: answer.json() }
  }
  const wait = (ms: number) => void (monotonicMs += ms)
  return { store, owner, user, cameras, ask, wait }
}

test('a user sees the space of their own cameras, with rate and forecast; owners that of the server too', async (t) => {
  const { owner, user, cameras, ask } = await openScene(t)
  const { status, body } = await ask(user)
  assert.equal(status, 200)
  const { share_bytes, ...rest } = body
  assert.ok(share_bytes! > 1_000_000, 'a tenth of the disk')
  assert.deepEqual(rest, {
    used_bytes: 48_000_000,
    bytes_per_day: 24_000_000,
    max_bytes: null,
    full_at: null,
    cameras: [
      {
        id: cameras[0],
        used_bytes: 48_000_000,
        bytes_per_day: 24_000_000,
        max_bytes: null,
        recording_start: '2026-06-29T12:00:00Z',
        retention_days: 30,
        forecast_days: 30,
      },
    ],
    server: null,
  })
  const { server, cameras: own, share_bytes: ofOwner } = (await ask(owner)).body
  assert.equal(ofOwner, null)
  assert.deepEqual(
    own.map(({ id }) => id),
    [cameras[2]],
  )
  assert.equal(server!.used_bytes, 48_000_000 + 24_000_000)
  assert.equal(server!.clock_doubt, null)
  assert.ok(server!.disk_free_bytes! > 0 && server!.disk_bytes! > server!.disk_free_bytes!)
})

test('owners limit the space of users, who see when it will be full', async (t) => {
  const { owner, user, ask, store } = await openScene(t)
  const path = `/v1/users/${user.userId}/storage/`
  const { status, body } = await ask(owner, path, { max_bytes: 120_000_000 })
  assert.equal(status, 200)
  assert.deepEqual([body.max_bytes, body.share_bytes], [120_000_000, 120_000_000])
  assert.equal(body.full_at, '2026-07-04T12:00:00Z', '48 MB are there, 24 MB come each day')
  assert.equal(body.cameras[0]!.forecast_days, 5)
  assert.deepEqual((await ask(user)).body, { ...body, server: null })
  assert.deepEqual((await ask(owner, path)).body, body)
  assert.equal((await ask(owner, path, { max_bytes: null })).body.full_at, null)
  assert.equal(await store.userLimits.findMaxBytes(user.userId), null)

  for (const wrong of [{}, { max_bytes: 0 }, { max_bytes: '5GB' }, { max_bytes: 1e300 }]) {
    assert.equal((await ask(owner, path, wrong)).status, 400, JSON.stringify(wrong))
  }
  assert.equal((await ask(owner, '/v1/users/999/storage/')).status, 404)
  assert.equal((await ask(user, `/v1/users/${owner.userId}/storage/`)).status, 403)
  assert.equal((await ask(user, path, { max_bytes: null })).status, 403)
})

test('storage figures are cached for half a minute; recording that is off has no growth', async (t) => {
  const { user, cameras, ask, store, wait } = await openScene(t)
  await ask(user)
  await store.recordings.disable(cameras[0]!)
  assert.equal((await ask(user)).body.bytes_per_day, 24_000_000)
  wait(31_000)
  const { body } = await ask(user)
  assert.deepEqual([body.bytes_per_day, body.cameras[0]!.forecast_days, body.used_bytes], [0, null, 48_000_000])
})

test('an empty mount point in place of the archive reports no sizes, which would be those of another disk', async (t) => {
  const { store } = await openScene(t)
  const folder = await mkdtemp(join(tmpdir(), 'nightjar-empty-'))
  t.after(() => rm(folder, { recursive: true }))
  const { disk, cameras } = await createTemporaryStorage(store, folder, systemClock).read()
  assert.equal(disk, undefined)
  assert.equal(cameras.length, 2)
})

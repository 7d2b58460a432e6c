import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTemporaryApi } from '../../../test/support/api/temporary-api.ts'
import { AppError } from '../../base/error.ts'
import type { RecordedImageSource } from '../deps.ts'

const jpeg = Buffer.from([0xff, 0xd8, 0xff, 0xd9])

test('images of recorded moments share one URL per user and camera for as long as access lasts', async (t) => {
  const asked: unknown[][] = []
  const recordedImages: RecordedImageSource = {
    getImage: async (...request) => {
      asked.push(request)
      if (request[1] > Date.UTC(2030)) throw new AppError('not_found', 'nothing')
      return { jpeg, takenAtMs: request[1] }
    },
  }
  const { api, store, addUser, addCamera } = await openTemporaryApi(t, { recordedImages })
  const owner = await addUser('owner@example.com')
  const [cameraId, otherId] = [await addCamera(owner.userId), await addCamera(owner.userId)]
  for (const id of [cameraId, otherId]) await store.recordings.enable(id, { retention: 'P7D', maxBytes: null })
  const { userId: guestId, ...guest } = await addUser('guest@example.com')
  const added = await store.guests.insert({
    cameraId,
    email: 'guest@example.com',
    canViewRecordings: true,
    sharesNotifications: false,
  })

  const ask = async (path: string, authorization: string, size = '') => {
    const answer = await api.server.inject({
      url: `/v1/${path}/recording/pictures/${size}`,
      headers: { authorization },
    })
    assert.equal(answer.statusCode, 200, answer.body)
    const { pathname, search } = new URL(answer.json().url)
    return pathname + search
  }
  const statusOf = async (url: string) => (await api.server.inject({ url })).statusCode
  const own = await ask(`cameras/${cameraId}`, owner.authorization)
  const shared = await ask(`shared-cameras/${cameraId}`, guest.authorization)
  const at = '&at=2026-07-01T10:00:00Z'

  const small = await ask(`cameras/${cameraId}`, owner.authorization, '?max_width=320')
  const answer = await api.server.inject({ url: small + at })
  assert.deepEqual([answer.statusCode, answer.headers['content-type']], [200, 'image/jpeg'])
  assert.match(String(answer.headers['cache-control']), /no-store/)
  assert.deepEqual(answer.rawPayload, jpeg)
  assert.deepEqual(asked.at(-1), [cameraId, Date.UTC(2026, 6, 1, 10), { maxWidth: 320 }, owner.userId])

  assert.equal(await statusOf(`${small}${at}&max_width=320`), 200)
  for (const other of ['max_width=640', 'max_width=', 'max_width=x', 'max_height=320'])
    assert.equal(await statusOf(`${small}${at}&${other}`), 400, other)
  for (const wrong of ['', '&at=', '&at=yesterday', `${at}&max_width=640`, `${at}&max_height=`])
    assert.equal(await statusOf(own + wrong), 400, wrong)
  assert.equal(await statusOf(`${own}&at=2031-01-01T00:00:00Z`), 404)
  const elsewhere = own.replace(`/cameras/${cameraId}/`, `/cameras/${otherId}/`)
  for (const wrong of [
    elsewhere,
    own.replace(/.$/, ''),
    own.replace(/token=.*/, 'token='),
    own.replace('recorded', 'live'),
  ])
    assert.equal(await statusOf(wrong + at), 403, wrong)

  assert.equal(await statusOf(shared + at), 200)
  await store.guests.update(cameraId, added.id, { canViewRecordings: false })
  assert.deepEqual([await statusOf(shared + at), await statusOf(own + at)], [403, 200])
  await store.guests.update(cameraId, added.id, { canViewRecordings: true })
  assert.equal(await statusOf(shared + at), 200)
  await store.tokens.revoke(owner.tokenId)
  assert.deepEqual([await statusOf(shared + at), await statusOf(own + at)], [200, 403])
  assert.ok(guestId > 0)
})

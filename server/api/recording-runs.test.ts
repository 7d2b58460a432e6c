import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTemporaryApi } from '../../test/support/api/temporary-api.ts'
import { isRecordedAt } from '../model/recording-run.ts'

test('recording is stopped and started, with a token for that alone, and stays on meanwhile', async (t) => {
  const { api, store, addUser, addCamera } = await openTemporaryApi(t)
  const { userId, authorization } = await addUser('ada@example.com', ['recording_start_stop'])
  const camera = await addCamera(userId)
  const post = (path: string) =>
    api.server.inject({
      method: 'POST',
      url: `/v1/cameras/${camera}/recording/${path}`,
      headers: { authorization, 'content-type': 'application/json' },
    })
  const isRecorded = async (inMs = 0) => isRecordedAt((await store.recordings.find(camera))!, Date.now() + inMs)

  for (const path of ['start/', 'stop/', 'start/?duration=x']) assert.equal((await post(path)).statusCode, 404, path)
  await store.recordings.enable(camera, { retention: 'P7D', maxBytes: null })
  const stopped = await post('stop/')
  assert.deepEqual([stopped.statusCode, stopped.body], [204, ''])
  assert.equal(await isRecorded(), false)
  assert.equal((await store.recordings.find(camera))!.deactivatedAtMs, null)
  for (const duration of ['0', '-1', '1.5', 'x', 'NaN', '31536001']) {
    const refused = await post(`start/?duration=${duration}`)
    assert.deepEqual([refused.statusCode, Object.keys(refused.json().errors)], [400, ['duration']], duration)
  }
  assert.equal((await post('start?duration=60')).statusCode, 204)
  assert.deepEqual([await isRecorded(50_000), await isRecorded(61_000)], [true, false])
  assert.equal((await post('start')).statusCode, 204)
  assert.equal(await isRecorded(61_000), true)
})

test('what is stopped stays so while its policy changes, and starts when it is turned on', async (t) => {
  const { api, store, addUser, addCamera } = await openTemporaryApi(t)
  const { userId, authorization } = await addUser('ada@example.com')
  const camera = await addCamera(userId)
  const send = async (method: 'POST' | 'PUT', path: string, payload?: object) => {
    const url = `/v1/cameras/${camera}/recording/${path}`
    const { statusCode } = await api.server.inject({
      method,
      url,
      headers: { authorization },
      ...(payload && { payload }),
    })
    return [statusCode, (await store.recordings.find(camera))?.recordsUntilMs === null]
  }
  assert.deepEqual(await send('POST', '', { retention: 'P7D' }), [201, true])
  assert.deepEqual(await send('POST', 'stop/'), [204, false])
  assert.deepEqual(await send('PUT', '', { retention: 'P8D' }), [200, false])
  const { applications, has_recording } = (
    await api.server.inject({ url: `/v1/cameras/${camera}/`, headers: { authorization } })
  ).json()
  assert.deepEqual([applications, has_recording], [[{ code: 'CRA' }], true])
  assert.deepEqual(await send('POST', '', { retention: 'P8D' }), [201, true])
})

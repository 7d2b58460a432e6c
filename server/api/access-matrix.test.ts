// Who may do what with whose camera: every endpoint that is built, for everyone there is.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Endpoint } from '../../contract/endpoint.ts'
import { builtNames, endpoints } from '../../contract/endpoints.ts'
import { openTemporaryApi } from './temporary-api.ts'

const ofCamera = builtNames.filter((name) => endpoints[name].path.startsWith('/v1/cameras/{'))

test('T20: each operation on a camera, for its owner, a stranger, a disabled account and nobody', async (t) => {
  const { api, store, addUser, addCamera } = await openTemporaryApi(t)
  const [owner, stranger, disabled] = [
    await addUser('owner@example.com'),
    await addUser('stranger@example.com'),
    await addUser('disabled@example.com'),
  ]
  const [ownCamera, disabledCamera] = [await addCamera(owner.userId), await addCamera(disabled.userId)]
  await store.users.setDisabled(disabled.userId, true)
  assert.ok(ofCamera.length >= 5)
  for (const name of ofCamera) {
    const { method, path }: Endpoint = endpoints[name]
    const send = (cameraId: number, authorization?: string) =>
      api.server.inject({
        method,
        url: path.replace('{camera_id}', String(cameraId)).replaceAll(/\{\w+\}/g, '1'),
        headers: { ...(authorization && { authorization }), 'content-type': 'application/json' },
        ...(method === 'POST' || method === 'PUT' ? { payload: '{"name":5}' } : {}),
      })
    const missing = await send(999_999, owner.authorization)
    assert.equal(missing.statusCode, 404, `${name} of no camera`)
    for (const cameraId of [ownCamera, disabledCamera]) {
      const refused = await send(cameraId, stranger.authorization)
      assert.deepEqual([refused.statusCode, refused.body], [404, missing.body], `${name} by a stranger`)
      const { date: _date, ...headers } = refused.headers
      const { date: _missingDate, ...missingHeaders } = missing.headers
      assert.deepEqual(headers, missingHeaders, `${name} by a stranger`)
      assert.equal((await send(cameraId, disabled.authorization)).statusCode, 401, `${name} by a disabled account`)
      assert.equal((await send(cameraId)).statusCode, 401, `${name} by nobody`)
    }
  }
  // Last of all, since some of them remove it; what is wrong with the request itself is said to the owner alone.
  for (const name of ofCamera) {
    const { method, path, status }: Endpoint = endpoints[name]
    if (method === 'DELETE') continue
    const url = path.replace('{camera_id}', String(ownCamera))
    const response = await api.server.inject({
      method,
      url,
      headers: { authorization: owner.authorization, 'content-type': 'application/json' },
      ...(method === 'GET' ? {} : { payload: '{"name":5}' }),
    })
    // A camera that records nothing has no recording.
    const expected = [status, 400, ...(path.includes('/recording/') ? [404] : [])]
    assert.ok(expected.includes(response.statusCode), `${name} by its owner: ${response.statusCode}`)
  }
})

// Logging in to third-party cameras: each authentication scheme of GStreamer's server, with and without audio.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Camera } from '../../contract/camera.ts'
import { eventually, openServerHere } from '../server-under-test.ts'
import { openGstreamerCamera } from './gstreamer-camera.ts'

test('GStreamer cameras with Basic, Digest and no login come online; a wrong password is reported', async () => {
  await using server = await openServerHere()
  await using open = await openGstreamerCamera()
  const login = { user: 'viewer', password: 'sesame' }
  await using basic = await openGstreamerCamera({ auth: { scheme: 'basic', ...login }, streams: ['h264+aac'] })
  await using digest = await openGstreamerCamera({ auth: { scheme: 'digest', ...login } })
  const add = async (url: string) => {
    return server.addCamera('Foreign', url)
  }
  const read = async (id: number) => (await server.request<Camera>(`/v1/cameras/${id}/`)).json
  const wrong = await add(digest.url().replace('sesame', 'mellon'))
  for (const [camera, hasAudio] of [
    [open, false],
    [basic, true],
    [digest, false],
  ] as const) {
    const id = await add(camera.url())
    await eventually(`${camera.url()} is online`, 20_000, async () => (await read(id)).status === 'online')
    assert.equal((await read(id)).audio_enabled, hasAudio)
  }
  await eventually('the wrong password is reported', 20_000, async () => (await read(wrong)).status === 'offline')
  assert.match((await read(wrong)).status_reason!, /password/)
})

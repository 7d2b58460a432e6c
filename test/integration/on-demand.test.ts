// A camera that is not recorded is connected only while somebody watches and briefly every minute; a recorded one is
// always connected. Observed from both ends: connections that the camera counts, and responses to viewers.

import assert from 'node:assert/strict'
import { request } from 'node:https'
import { after, before, test } from 'node:test'
import type { Camera } from '../../contract/camera.ts'
import { type FakeCamera, openFakeCamera } from '../fake-camera/fake-camera.ts'
import { eventually, openServerHere, type ServerUnderTest } from '../server-under-test.ts'

let source: FakeCamera
let server: ServerUnderTest

before(async () => {
  source = await openFakeCamera({ streams: [{ name: 'yard', width: 320, height: 180, gopFrames: 25 }] })
  server = await openServerHere()
})

after(async () => {
  await server[Symbol.asyncDispose]()
  await source[Symbol.asyncDispose]()
})

const players = () => source.stats().streams.yard!.players
const read = async (id: number) => (await server.request<Camera>(`/v1/cameras/${id}/`)).json

test('an unwatched camera is disconnected, connects at once for a viewer, and stays connected while it is recorded', async () => {
  const id = await server.addCamera('Yard', source.url('yard'))
  await eventually('it is online', 20_000, async () => (await read(id)).status === 'online')
  await eventually('its snapshot is stored', 20_000, async () => (await read(id)).snapshot !== null)
  await eventually('it is disconnected', 40_000, async () => players() === 0)

  const camera = await read(id)
  assert.equal(camera.status, 'online', 'its status is unchanged')
  const snapshot = await server.request(new URL(camera.live_snapshot).pathname + new URL(camera.live_snapshot).search)
  assert.equal(snapshot.status, 200, 'a current image, within the time that a viewer waits')
  assert.equal(players(), 1)

  const { url } = camera.streams.find(({ format }) => format === 'mp4')!
  const viewer = request(url, { ca: server.ca })
  let received = 0
  viewer.on('response', (response) => response.on('data', (bytes: Buffer) => (received += bytes.length)))
  viewer.on('error', () => {})
  viewer.end()
  await eventually('the viewer receives video', 10_000, async () => received > 20_000)
  const seen = received
  await eventually('the viewer keeps receiving video', 10_000, async () => received > seen + 20_000)
  viewer.destroy()
  await eventually('it is disconnected again', 60_000, async () => players() === 0)

  await server.command('camera', 'record', String(id), '--retention', 'P1D')
  await eventually('it is connected for recording', 10_000, async () => players() === 1)
  const metrics = await metricsOf(server)
  assert.match(metrics, /^nightjar_cameras_by_status\{status="online",reason=""\} 1$/m)
  await server.command('camera', 'record', String(id), '--off')
  await eventually('it is disconnected after recording stops', 60_000, async () => players() === 0)
})

async function metricsOf(server: ServerUnderTest): Promise<string> {
  return (await server.request('/metrics', { authorization: null })).text
}

// A camera that is not recorded is connected while somebody watches, and for a moment each minute; one that is recorded, always. Seen
// from both ends: what the camera counts, and what viewers get.

import assert from 'node:assert/strict'
import { request } from 'node:https'
import { after, before, test } from 'node:test'
import { type FakeCamera, openFakeCamera } from '../fake-camera/fake-camera.ts'
import { eventually, openServer, type ServerUnderTest } from '../server-under-test.ts'

type Camera = {
  status: string
  snapshot: { url: string; created_at: string } | null
  streams: { format: string; url: string }[]
  live_snapshot: string
}

let source: FakeCamera
let server: ServerUnderTest

before(async () => {
  source = await openFakeCamera({ streams: [{ name: 'yard', width: 320, height: 180, gopFrames: 25 }] })
  server = await openServer()
})

after(async () => {
  await server[Symbol.asyncDispose]()
  await source[Symbol.asyncDispose]()
})

const players = () => source.stats().streams.yard!.players
const read = async (id: number) => (await server.request<Camera>(`/v1/cameras/${id}/`)).json

test('an unwatched camera is disconnected, connects at once for a viewer, and stays connected while it is recorded', {
  timeout: 180_000,
}, async () => {
  const args = ['--user', 'owner@example.com', '--name', 'Yard', '--url', source.url('yard')]
  const { id } = await server.command<{ id: number }>('camera', 'add', ...args)
  await eventually('it is online', 20_000, async () => (await read(id)).status === 'online')
  await eventually('its image is kept', 20_000, async () => (await read(id)).snapshot !== null)
  await eventually('it is left alone', 40_000, async () => players() === 0)

  const camera = await read(id)
  assert.equal(camera.status, 'online', 'its status stands')
  const snapshot = await server.request(new URL(camera.live_snapshot).pathname + new URL(camera.live_snapshot).search)
  assert.equal(snapshot.status, 200, 'an image of now, within the time that any viewer waits')
  assert.equal(players(), 1)

  const { url } = camera.streams.find(({ format }) => format === 'mp4')!
  const viewer = request(url, { ca: server.ca })
  let received = 0
  viewer.on('response', (response) => response.on('data', (bytes: Buffer) => (received += bytes.length)))
  viewer.on('error', () => {})
  viewer.end()
  await eventually('the viewer sees it', 10_000, async () => received > 20_000)
  const seen = received
  await eventually('and goes on seeing it', 10_000, async () => received > seen + 20_000)
  viewer.destroy()
  await eventually('it is left alone again', 60_000, async () => players() === 0)

  await server.command('camera', 'record', String(id), '--retention', 'P1D')
  await eventually('it is connected to be recorded', 10_000, async () => players() === 1)
  const metrics = await metricsOf(server)
  assert.match(metrics, /^nightjar_cameras_by_status\{status="online",reason=""\} 1$/m)
  await server.command('camera', 'record', String(id), '--off')
  await eventually('and left alone when that is over', 60_000, async () => players() === 0)
})

async function metricsOf(server: ServerUnderTest): Promise<string> {
  return (await server.request('/metrics', { authorization: null })).text
}

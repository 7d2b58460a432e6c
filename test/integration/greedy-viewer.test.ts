// A guest who asks for pictures without end, in hundreds of sizes: few sizes are made, and nobody else's pictures are refused for it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Camera } from '../../contract/camera.ts'
import { parseJpegHeader } from '../../server/media/jpeg/jpeg-header.ts'
import { openFakeCamera } from '../fake-camera/fake-camera.ts'
import { eventually, openServer } from '../server-under-test.ts'

const stream = { name: 'yard', width: 640, height: 360, framesPerSecond: 25, gopFrames: 25, loopSeconds: 4 }

test('a guest asks for every width and every moment: few sizes are made, and the owner has every picture', async () => {
  await using camera = await openFakeCamera({ streams: [{ ...stream, hasAudio: false, bitsPerSecond: 400_000 }] })
  await using server = await openServer('--rate-limit', '0')
  const person = ['--email', 'guest@example.com', '--first-name', 'Gus', '--last-name', 'Guest']
  await server.command('user', 'add', '--password', 'correct horse', ...person)
  const { token } = await server.command<{ token: string }>('token', 'create', '--user', 'guest@example.com')
  const authorization = `PersonalAccessToken ${token}`
  const added = { name: 'Yard', type: 'h264', url: camera.url('yard') }
  const { id } = (await server.request<Camera>('/v1/cameras/', { method: 'POST', body: added })).json
  await server.command('camera', 'record', `${id}`, '--retention', 'P1D')
  const share = { email: 'guest@example.com', permissions: { can_view_rec: true } }
  assert.equal((await server.request(`/v1/cameras/${id}/guests/`, { method: 'POST', body: share })).status, 201)

  const open = (url: string) => {
    const { pathname, search } = new URL(url)
    return server.request(pathname + search, { authorization: null })
  }
  const pictures = async (path: string, width: number, who?: string) => {
    const at = `/v1/${path}/${id}/recording/pictures/?max_width=${width}`
    return (await server.request<{ url: string }>(at, who ? { authorization: who } : {})).json.url
  }
  const beganMs = Date.now()
  const own = await pictures('cameras', 100)
  const ofGuest = (width: number) => pictures('shared-cameras', width, authorization)
  const momentOf = (ms: number) => `&at=${new Date(ms).toISOString()}`
  const endMs = await eventually('some seconds are recorded', 60_000, async () => {
    const atMs = Date.now() - 1000
    return atMs - beganMs > 12_000 && (await open(own + momentOf(atMs))).status === 200 && atMs
  })

  const widths = new Set<number>()
  for (let width = 20; width <= 480; width += 20) {
    const { status, bytes } = await open((await ofGuest(width)) + momentOf(endMs))
    assert.equal(status, 200)
    const header = parseJpegHeader(bytes)
    assert.ok(header.width <= width)
    widths.add(header.width)
    const query = `?max_width=${width}`
    const at = `/v1/shared-cameras/${id}/${query}`
    const { live_snapshot } = (await server.request<Camera>(at, { authorization })).json
    const live = await open(live_snapshot)
    assert.equal(live.status, 200)
    widths.add(parseJpegHeader(live.bytes).width)
  }
  assert.ok(widths.size <= 10, `${widths.size} sizes`)

  const shared = await Promise.all([64, 128, 160, 240, 320, 480].map(ofGuest))
  let isOver = false
  let asked = 0
  const flood = Array.from({ length: 100 }, async (_, i) => {
    while (!isOver) {
      const atMs = endMs - ((asked++ * 997) % 10_000)
      await open(shared[i % shared.length] + momentOf(atMs))
    }
  })
  try {
    await eventually('the flood has begun', 60_000, async () => asked > 200)
    for (let i = 0; i < 8; i++) {
      const { status } = await open(own + momentOf(endMs - i * 1000))
      assert.equal(status, 200, `the picture ${i} s before`)
    }
  } finally {
    isOver = true
    await Promise.all(flood)
  }
})

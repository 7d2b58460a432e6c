// A camera that is not recorded and sends a key frame every 12 s: a viewer who connects in between waits for the next
// one and is not refused.

import assert from 'node:assert/strict'
import { request } from 'node:https'
import { test } from 'node:test'
import type { Camera } from '../../contract/camera.ts'
import { openFakeCamera } from '../fake-camera/fake-camera.ts'
import { RtspClient } from '../fake-camera/rtsp-client.ts'
import { eventually, openServerHere } from '../server-under-test.ts'

const fps = 10
const gopFrames = 12 * fps

test('a viewer who connects between two rare key frames gets a snapshot, HLS and MP4', async () => {
  await using opened = new AsyncDisposableStack()
  const streams = [{ name: 'rare', width: 160, height: 90, framesPerSecond: fps, gopFrames, joinsAnywhere: true }]
  const source = opened.use(await openFakeCamera({ streams }))
  // A second client, so that the groups of pictures continue while the server is disconnected.
  using other = await RtspClient.play(source.url('rare'))
  const server = opened.use(await openServerHere())
  const body = { name: 'Rare', url: source.url('rare'), type: 'h264' }
  const { json: added, text } = await server.request<{ id: number }>('/v1/cameras/', { method: 'POST', body })
  assert.ok(added.id, text)
  const read = async () => (await server.request<Camera>(`/v1/cameras/${added.id}/`)).json
  await eventually('it is online', 30_000, async () => (await read()).status === 'online')
  await eventually('it is disconnected', 60_000, async () => source.stats().streams.rare!.players === 1)

  const keys = () => other.frames.filter(({ isKey }) => isKey).length
  const before = keys()
  await eventually('a key frame has been sent', 30_000, async () => keys() > before)
  const camera = await read()
  assert.equal(camera.status, 'online')
  const get = async (url: string) => {
    const { pathname, search } = new URL(url)
    const keysBefore = keys()
    const { status, text } = await server.request(pathname + search, { authorization: null })
    return { status, text, keysMeanwhile: keys() - keysBefore }
  }
  const urlOf = (format: string) => camera.streams.find((each) => each.format === format)!.url
  const [snapshot, hls, mp4] = await Promise.all([
    get(camera.live_snapshot),
    get(urlOf('hls')),
    fetchFirst(urlOf('mp4'), server.ca),
  ])
  assert.equal(snapshot.status, 200, snapshot.text)
  assert.ok(snapshot.keysMeanwhile > 0, 'an earlier key frame is not shown as the current image')
  assert.equal(hls.status, 200, hls.text)
  assert.equal(mp4, 200)
})

/** Returns the status of an endless response once some of its bytes have arrived. */
async function fetchFirst(url: string, ca: string): Promise<number | undefined> {
  const sent = request(url, { ca })
  sent.on('error', () => {})
  sent.end()
  return new Promise((resolve) => {
    sent.on('response', (response) => {
      response.once('data', () => {
        resolve(response.statusCode)
        sent.destroy()
      })
    })
  })
}

// A camera that reconnects with audio, without, and with audio again. Viewers of live HLS in hls.js keep watching,
// whatever tracks they began with, and so do viewers of the recording.

import { after, before, test } from 'node:test'
import { type FakeCamera, openFakeCamera } from '../fake-camera/fake-camera.ts'
import type { DescriptionFault } from '../fake-camera/rtsp/stream-faults.ts'
import { eventually, openServerHere, type ServerUnderTest } from '../server-under-test.ts'
import { checkErrors, openViewer, type Viewer } from './browser.ts'
import { openStream } from './clock-player.ts'

const names = ['begins-with', 'begins-without'] as const

let source: FakeCamera
let server: ServerUnderTest
const ids: number[] = []

before(async () => {
  const size = { scene: 'yard', width: 480, height: 270, framesPerSecond: 10, gopFrames: 10, hasAudio: true } as const
  source = await openFakeCamera({ streams: names.map((name) => ({ name, ...size })) })
  source.faults.describeAs('no_audio', names[1])
  server = await openServerHere()
  for (const name of names) {
    ids.push(await server.addCamera(name, source.url(name), '--record', 'P1D'))
  }
})

after(async () => {
  await server[Symbol.asyncDispose]()
  await source[Symbol.asyncDispose]()
})

test('hls.js keeps playing live and recorded while the audio track disappears, returns and disappears', async () => {
  const startMs = Date.now()
  await using stack = new AsyncDisposableStack()
  const viewers: Viewer[] = []
  for (const id of ids) {
    const { json } = await server.request<{ streams: { format: string; url: string }[] }>(`/v1/cameras/${id}/`)
    const { url } = json.streams.find(({ format }) => format === 'hls')!
    viewers.push(stack.use(await openViewer({ recorded: url })))
  }
  await seeNow(viewers)
  const changes: DescriptionFault[][] = [
    ['no_audio', 'none'],
    ['none', 'no_audio'],
    ['no_audio', 'none'],
  ]
  for (const faults of changes) {
    for (const [i, fault] of faults.entries()) source.faults.describeAs(fault, names[i])
    source.faults.dropConnections()
    await seeNow(viewers)
  }
  for (const { page } of viewers) await checkErrors(page, { isLive: true })
  const endMs = Date.now() - 2000
  for (const cameraId of ids) {
    const { url } = await openStream({ server, cameraId }, { startMs, endMs })
    await using viewer = await openViewer({ recorded: url })
    await eventually('a recorded frame', 20_000, () => viewer.readClock('video'))
    await viewer.page.evaluate("document.querySelector('video').playbackRate = 4")
    await eventually('the last recorded frame', 30_000, async () => {
      const read = await viewer.readClock('video')
      return read !== undefined && read.code.unixMs > endMs - 2000
    })
    await checkErrors(viewer.page)
  }
})

/** What is sent from now on. */
async function seeNow(viewers: readonly Viewer[]): Promise<void> {
  const sinceMs = Date.now() + 2000
  for (const viewer of viewers) {
    await eventually('a live frame of now', 40_000, async () => {
      const read = await viewer.readClock('video')
      return read !== undefined && read.code.unixMs > sinceMs
    })
  }
}

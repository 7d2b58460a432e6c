// Cameras that cost a server as much as possible: each kind does one thing that once affected other cameras.

import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { openScriptedCamera, type Script, type Sender, samplePps } from '../support/ingest/scripted-camera.ts'
import { packetizeH264 } from '../support/media/h264/packetizer.ts'
import { writeSlowJpeg } from './slow-jpeg.ts'

export type HostileCamera = { readonly kind: string; readonly url: string; readonly type: 'h264' | 'mjpeg' }

const frameMs = 40

/** Sends something for each frame as long as the connection lasts. */
const each = (send: (sender: Sender, i: number) => void, ms = frameMs): Script => ({
  play(sender) {
    let i = 0
    const timer = setInterval(() => {
      if (sender.socket.destroyed) clearInterval(timer)
      else if (sender.socket.writableLength < 8e6) send(sender, i++)
    }, ms)
  },
})

const rtspKinds: { readonly [kind: string]: Script } = {
  'parameter sets that alternate at each key frame': each((sender, i) =>
    sender.sendFrame(i * 3600, true, i % 2 === 0 ? '640x360' : '1920x1080'),
  ),
  'a clock that jumps at each key frame': each((sender, i) =>
    sender.sendFrame(i * 3600 + (i % 3) * 630_000, i % 2 === 0),
  ),
  'thousands of parameter sets in each frame': each((sender, i) => {
    const sets = Array.from({ length: 2000 }, (_, n) => Uint8Array.of(...samplePps, n >> 8, n & 255))
    for (const payload of packetizeH264(sets)) sender.send(0, sender.packet(payload, i * 18_000, false))
    sender.sendFrame(i * 18_000, true)
  }, 200),
  'bytes that are no RTSP': each((sender) => {
    sender.write(Uint8Array.from({ length: 20_000 }, (_, n) => (n * 197 + ((n * n) >> 7)) & 0xff))
  }),
  'connections that end with their first frame': {
    play(sender) {
      for (let i = 0; i < 3; i++) sender.sendFrame(i * 3600, i === 0)
      sender.socket.end()
    },
  },
}

/** A JPEG of the given size that cannot be decoded. */
function writeJpeg(width: number, height: number, bytes: number): Uint8Array {
  const head = [0xff, 0xd8, 0xff, 0xc0, 0, 11, 8, height >> 8, height & 255, width >> 8, width & 255, 1, 1, 0x11, 0]
  const body = [...head, 0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0]
  const jpeg = new Uint8Array(Math.max(bytes, body.length + 10)).fill(0x55)
  jpeg.set(body)
  jpeg.set([0xff, 0xd9], jpeg.length - 2)
  return jpeg
}

const slow = writeSlowJpeg(20_000)
const huge = writeJpeg(6000, 6000, 7_000_000)

const httpKinds: { readonly [kind: string]: { readonly ms: number; readonly jpeg: (i: number) => Uint8Array } } = {
  'frames of alternating size': { ms: frameMs, jpeg: (i) => writeJpeg(i % 2 === 0 ? 640 : 320, 240, 5000) },
  'frames that keep a decoder busy for a quarter of a minute': { ms: 1000, jpeg: () => slow },
  'frames of seven megabytes': { ms: 2000, jpeg: () => huge },
}

/** Opens one camera of each kind. */
export async function openHostileCameras(): Promise<AsyncDisposable & { readonly cameras: readonly HostileCamera[] }> {
  const stack = new AsyncDisposableStack()
  const cameras: HostileCamera[] = []
  for (const [kind, script] of Object.entries(rtspKinds)) {
    const { url } = stack.use(await openScriptedCamera(script))
    cameras.push({ kind, url, type: 'h264' })
  }
  const server = createServer((request, response) => sendFrames(request.url ?? '', response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  stack.defer(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as { port: number }
  for (const [i, kind] of Object.keys(httpKinds).entries()) {
    cameras.push({ kind, url: `http://127.0.0.1:${port}/${i}`, type: 'mjpeg' })
  }
  return { cameras, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

function sendFrames(path: string, response: ServerResponse): void {
  const { ms, jpeg } = Object.values(httpKinds)[Number(path.slice(1))]!
  response.on('error', () => {})
  response.writeHead(200, { 'content-type': 'multipart/x-mixed-replace; boundary=frame' })
  let i = 0
  const timer = setInterval(() => {
    if (response.destroyed) clearInterval(timer)
    else if (response.writableLength < 8e6) {
      const bytes = jpeg(i++)
      response.write(`--frame\r\nContent-Type: image/jpeg\r\nContent-Length: ${bytes.length}\r\n\r\n`)
      response.write(bytes)
      response.write('\r\n')
    }
  }, ms)
}

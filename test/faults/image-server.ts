// A camera of MJPEG by HTTP that fails on demand: ten real pictures, one after the other, as multipart/x-mixed-replace.

import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { Lens } from '../fake-camera/encode/lens.ts'

export type ImageServer = AsyncDisposable & {
  readonly port: number
  /** Answers with this instead of pictures, and ends the answers there are; undefined = pictures again. */
  answerWith(status: number | undefined): void
  /** Sends nothing for so long. */
  stall(ms: number): void
  /** For so many pictures: half of each; or a wrong Content-Length. */
  spoil(kind: 'halves' | 'lengths', pictures: number): void
}

const framesPerSecond = 10

export async function openImageServer(): Promise<ImageServer> {
  const pictures = await encodeImages()
  const viewers = new Set<ServerResponse>()
  let status: number | undefined
  let stalledUntilMs = 0
  let spoilt: { kind: 'halves' | 'lengths'; left: number } | undefined
  let next = 0
  const server = createServer((_, response) => {
    response.on('error', () => {})
    if (status !== undefined) {
      const headers = status === 401 ? { 'www-authenticate': 'Basic realm="x"' } : { location: 'http://127.0.0.1:9/' }
      response.writeHead(status, { 'content-type': 'text/html', ...headers }).end('<html>no</html>')
      return
    }
    // As cameras do: neither a length nor chunks, it ends with the connection.
    response.removeHeader('transfer-encoding')
    response.writeHead(200, { 'content-type': 'multipart/x-mixed-replace; boundary=frame' })
    viewers.add(response)
    response.on('close', () => viewers.delete(response))
  })
  const timer = setInterval(() => {
    if (performance.now() < stalledUntilMs) return
    const jpeg = pictures[next++ % pictures.length]!
    const kind = spoilt && spoilt.left-- > 0 ? spoilt.kind : undefined
    const body = kind === 'halves' ? jpeg.subarray(0, jpeg.length >> 1) : jpeg
    const length = kind === 'lengths' ? (next * 7919) % 100_000 : body.length
    const head = `--frame\r\nContent-Type: image/jpeg\r\nContent-Length: ${length}\r\n\r\n`
    for (const viewer of viewers) {
      // A viewer that takes nothing gets no more.
      if (viewer.writableLength < 1e6) viewer.write(Buffer.concat([Buffer.from(head), body, Buffer.from('\r\n')]))
    }
  }, 1000 / framesPerSecond)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as { port: number }).port,
    answerWith(answer) {
      status = answer
      if (answer !== undefined) for (const viewer of viewers) viewer.end()
    },
    stall(ms) {
      stalledUntilMs = performance.now() + ms
    },
    spoil(kind, pictures) {
      spoilt = { kind, left: pictures }
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function encodeImages(): Promise<Buffer[]> {
  const size = { codec: 'mjpeg', width: 160, height: 96, framesPerSecond, gopFrames: 1, bFrames: 0 } as const
  using lens = await Lens.open({ ...size, bitsPerSecond: 400_000, rate: 'constant', scene: 'yard', title: 'pictures' })
  return Array.from({ length: 10 }, (_, frameNumber) => {
    const picture = lens.capture({ unixMs: frameNumber * 100, frameNumber }, true)
    if (!picture) throw new Error('the encoder gave no picture')
    return Buffer.from(picture.units[0]!)
  })
}

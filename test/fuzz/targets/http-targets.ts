// What an HTTP camera answers: the pictures in a body, and whole answers as they come over the wire.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer, type Server } from 'node:net'
import fc from 'fast-check'
import { systemClock } from '../../../server/base/clock.ts'
import { silentLogger } from '../../../server/base/log.ts'
import { ArrivalClock } from '../../../server/ingest/clock/arrival-clock.ts'
import { createCameraMemory } from '../../../server/ingest/connection/camera-memory.ts'
import { defaultLimits } from '../../../server/ingest/connection/connection-options.ts'
import { createCameraStats } from '../../../server/ingest/frames/camera-stats.ts'
import { createAddressGuard } from '../../../server/ingest/network/address-guard.ts'
import { CameraError } from '../../../server/ingest/network/camera-error.ts'
import { ConnectLimiter } from '../../../server/ingest/network/connect-limiter.ts'
import { SharedReads } from '../../../server/ingest/network/shared-reads.ts'
import { runCameraConnection } from '../../../server/ingest/session/camera-connection.ts'
import { MjpegReader } from '../../../server/media/multipart/mjpeg-reader.ts'
import type { FuzzTarget } from '../fuzz-target.ts'
import { few, pushInParts } from '../own-error.ts'

const head = [0xff, 0xd8, 0xff, 0xc0, 0, 11, 8, 0, 48, 0, 64, 1, 1, 0x11, 0]
const picture = Buffer.from([...head, 0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0, ...new Array(60).fill(0x55), 0xff, 0xd9])
const endless = Buffer.concat([picture.subarray(0, -2), Buffer.alloc(40, 0x33)])

const part = (body: Buffer, length: number | string = body.length) =>
  Buffer.concat([
    Buffer.from(`--frame\r\nContent-Type: image/jpeg\r\nContent-Length: ${length}\r\n\r\n`),
    body,
    Buffer.from('\r\n'),
  ])

const words = [
  '--frame\r\n',
  'Content-Length: ',
  '\r\n\r\n',
  '\u00ff\u00d8\u00ff',
  '\u00ff\u00d9',
  'Content-Type: image/jpeg\r\n',
  '\0\0\0',
]

const multipart: FuzzTarget = {
  name: 'multipart',
  seeds: () => [
    Buffer.concat([part(picture), part(picture), part(picture)]),
    Buffer.concat([picture, picture, picture]),
    Buffer.concat([part(picture, 5), part(endless), part(picture, 999), picture]),
  ],
  generated: fc
    .array(
      fc.oneof(
        fc.constant(part(picture)),
        fc.constant(part(endless)),
        fc.nat(400).map((length) => part(picture, length)),
      ),
      {
        maxLength: 6,
      },
    )
    .map((parts) => new Uint8Array(Buffer.concat(parts))),
  words,
  run(input, random) {
    const read = (push: (reader: MjpegReader) => void) => {
      const pictures: string[] = []
      let bytes = 0
      const reader = new MjpegReader({
        onFrame: (jpeg) => {
          assert.ok(
            jpeg[0] === 0xff && jpeg[1] === 0xd8 && jpeg.at(-2) === 0xff && jpeg.at(-1) === 0xd9,
            'from start to end',
          )
          pictures.push(Buffer.from(jpeg).toString('hex'))
          bytes += jpeg.length
        },
      })
      push(reader)
      assert.ok(bytes <= input.length + 2 * pictures.length, 'no more comes out than went in')
      return { pictures, bad: reader.badFrames }
    }
    const whole = read((reader) => reader.push(input))
    const parts = read((reader) => pushInParts(input, random, (each) => reader.push(each)))
    assert.deepEqual(parts.pictures, whole.pictures, 'any cut gives the same pictures')
    return `${few(whole.pictures.length)} ${few(whole.bad)}`
  },
}

const answer = (head: string, body: Buffer) => Buffer.concat([Buffer.from(`HTTP/1.0 ${head}\r\n\r\n`), body])

/** One server for all inputs: it answers whatever it is told. */
type Answering = { readonly port: number; readonly server: Server; say(answer: Uint8Array): void }

async function openAnswering(): Promise<Answering> {
  let next: Uint8Array = new Uint8Array()
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end(next))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  server.unref()
  const { port } = server.address() as AddressInfo
  return { port, server, say: (answer) => (next = answer) }
}

/** As cameras: the connection ends with the answer, so every run ends with an error; which is told to the owner. */
export function createHttpTarget(): FuzzTarget {
  let answering: Promise<Answering> | undefined
  return {
    name: 'http',
    seeds: () => [
      answer(
        '200 OK\r\nContent-Type: multipart/x-mixed-replace; boundary=frame',
        Buffer.concat([part(picture), part(picture)]),
      ),
      answer(`200 OK\r\nContent-Type: image/jpeg\r\nContent-Length: ${picture.length}`, picture),
      answer('401 Unauthorized\r\nWWW-Authenticate: Digest realm="x", nonce="y", qop="auth"', Buffer.from('no')),
      answer('302 Found\r\nLocation: http://127.0.0.1/', Buffer.alloc(0)),
      Buffer.from(`HTTP/1.1 200 OK\nContent-Type: text/html\nTransfer-Encoding: chunked\n\n5\r\nhello\r\n0\r\n\r\n`),
    ],
    words: [
      ...words,
      'HTTP/1.1 200 OK\r\n',
      'Transfer-Encoding: chunked\r\n',
      'Connection: keep-alive\r\n',
      'WWW-Authenticate: Basic realm="x"\r\n',
    ],
    async run(input) {
      const { port, say } = await (answering ??= openAnswering())
      say(input)
      const stats = createCameraStats()
      let pictures = 0
      // A single picture is asked for again and again: seen once, it has been read.
      const stop = new AbortController()
      const error = await runCameraConnection({
        url: `http://127.0.0.1:${port}/`,
        credentials: { username: 'user', password: 'secret-of-the-camera' },
        context: {
          addressGuard: createAddressGuard({ allowLoopback: true }),
          clock: { ...systemClock, sleep: (ms, signal) => systemClock.sleep(ms / 40, signal) },
          log: silentLogger,
          connectLimiter: new ConnectLimiter(1),
          reads: new SharedReads(),
        },
        stats,
        arrivalClock: new ArrivalClock(systemClock),
        createRunId: () => 'run',
        memory: createCameraMemory(),
        signal: AbortSignal.any([stop.signal, AbortSignal.timeout(60_000)]),
        floorMs: 0,
        limits: { ...defaultLimits, connectMs: 80_000, responseMs: 80_000, frameMs: 1000, keyFrameMs: 500 },
        onRun: () => {},
        publish: (item) => {
          if (item.kind !== 'video') return
          pictures++
          setTimeout(() => stop.abort(), 2)
        },
      }).catch((error: unknown) => error)
      if (stop.signal.aborted) return `pictures ${few(pictures)}`
      assert.ok(error instanceof CameraError, `expected an error for the owner, not ${error}`)
      assert.ok(error.kind !== 'internal', error.message)
      assert.ok(!error.message.includes('secret-of-the-camera'), 'no password in the message')
      return `${error.reason} ${error.message.replaceAll(/\d+/g, '#').slice(0, 60)}`
    },
  }
}

export const httpTargets: readonly FuzzTarget[] = [multipart, createHttpTarget()]

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer, type Server } from 'node:net'
import { type TestContext, test } from 'node:test'
import {
  audioVideoSdp,
  openScriptedCamera,
  type Script,
  type Sender,
  videoSdp,
} from '../../../test/support/ingest/scripted-camera.ts'
import { systemClock } from '../../base/clock.ts'
import { silentLogger } from '../../base/log.ts'
import type { IngestContext } from '../ingest-context.ts'
import { createAddressGuard } from '../network/address-guard.ts'
import { ConnectLimiter } from '../network/connect-limiter.ts'
import { SharedReads } from '../network/shared-reads.ts'
import { type DetectStreamOptions, detectStream } from './detect-stream.ts'

type Options = Partial<DetectStreamOptions & IngestContext> & {
  depth?: 'type' | 'stream'
  username?: string
  password?: string
}

function detect(url: string, { depth = 'stream', username, password, ...options }: Options = {}) {
  return detectStream({
    context: {
      clock: systemClock,
      log: silentLogger,
      addressGuard: createAddressGuard({ allowLoopback: true }),
      connectLimiter: new ConnectLimiter(4),
      reads: new SharedReads(),
      ...options,
    },
    target: { url, username, password, depth, canSeeProblems: true },
    signal: new AbortController().signal,
    ...options,
  })
}

const problemAt = async (url: string, options?: Options) => (await detect(url, options)).problem?.code

/** Sends ten frames per second with a key frame every `gop` frames: `count` frames, or until the camera is closed. */
const play = (gop: number, count = Number.POSITIVE_INFINITY) => {
  return (sender: Sender) => {
    let sent = 0
    const timer = setInterval(() => {
      if (sender.socket.destroyed || sent >= count) return clearInterval(timer)
      sender.sendFrame(sent * 9000, sent % gop === 0)
      sent++
    }, 100)
  }
}

/** The header of a JPEG of 64 × 48 pixels without image data. */
const jpeg = Buffer.from('ffd8ffc0000b080030004001011100ffda0008010100003f00ffd9', 'hex')

const methodsOf = (requests: readonly string[]) => requests.map((request) => request.split(' ')[0])

test('a stream is measured, its newest key frame is returned, and its session is ended with TEARDOWN', async () => {
  await using camera = await openScriptedCamera({ sdp: audioVideoSdp, play: play(5) })
  const { transport, video, audio, problem } = await detect(camera.url)
  assert.equal(problem, undefined)
  assert.equal(transport, 'rtsp_tcp')
  assert.deepEqual(audio, { codec: 'aac', sampleRate: 48_000, channels: 2 })
  const { codec, keyFrame, framesPerSecond, bitsPerSecond, keyFrameSeconds } = video!
  assert.deepEqual([codec, keyFrame?.width, keyFrame?.height], ['h264', 640, 360])
  // Ten, and fewer where a busy machine sends them later.
  const rate = framesPerSecond!
  assert.ok(rate > 5 && rate <= 10.1, `${rate}`)
  const group = keyFrameSeconds! * rate
  assert.ok(Math.abs(group - 5) < 1, `${group}`)
  // Frames of 3000 bytes, each preceded by its length.
  const bytes = bitsPerSecond! / 8 / rate
  assert.ok(Math.abs(bytes - 3000) < 600, `${bytes}`)
  assert.equal(keyFrame!.data.length, 3004)
  assert.equal(methodsOf(camera.requests).at(-1), 'TEARDOWN')
})

test('a stream with rare key frames is measured as far as possible', async () => {
  await using camera = await openScriptedCamera({ play: play(1000) })
  const limits = { totalMs: 20_000, measureMs: 1200 }
  const { video, problem } = await detect(camera.url, { limits })
  assert.equal(problem, undefined)
  assert.equal(video!.keyFrameSeconds, undefined)
  // Ten, and fewer where a busy machine sends them later.
  const rate = video!.framesPerSecond!
  assert.ok(rate > 5 && rate <= 11, `${rate}`)
})

test('the type is known before PLAY', async () => {
  await using camera = await openScriptedCamera({})
  const { video, problem } = await detect(camera.url, { depth: 'type' })
  assert.deepEqual([video?.codec, problem], ['h264', undefined])
  assert.ok(!methodsOf(camera.requests).includes('PLAY'))
})

test('a camera without key frames is described, and the problem is reported', async () => {
  await using camera = await openScriptedCamera({ sdp: audioVideoSdp, play: () => {} })
  const { video, audio, problem } = await detect(camera.url, { limits: { totalMs: 1500, measureMs: 1000 } })
  assert.deepEqual([video, audio?.codec, problem?.code], [{ codec: 'h264', keyFrame: undefined }, 'aac', 'no_frames'])
  assert.match(problem!.detail, /no key frame arrived within 1\.5 s/)
})

test('a camera that sends nothing over TCP is tested over UDP', async () => {
  let plays = 0
  const onPlay = (sender: Sender) => {
    if (++plays > 1) play(5)(sender)
  }
  await using camera = await openScriptedCamera({ udp: 'also', play: onPlay })
  const { transport, video, problem } = await detect(camera.url, { limits: { totalMs: 60_000, measureMs: 1000 } })
  assert.deepEqual([transport, video?.keyFrame?.width, problem], ['rtsp_udp', 640, undefined])
})

const challenge = { status: 401, headers: [['WWW-Authenticate', 'Basic realm="x"'] as [string, string]] }

const answers: readonly (readonly [code: string, script: Script, options?: Options])[] = [
  ['no_such_stream', { answer: ({ method }) => (method === 'DESCRIBE' ? { status: 404 } : undefined) }],
  ['login_needed', { answer: ({ method }) => (method === 'DESCRIBE' ? challenge : undefined) }],
  ['login_refused', { answer: () => challenge }, { username: 'ada', password: 'wrong' }],
  ['not_allowed', { answer: () => ({ status: 403 }) }],
  ['busy', { answer: ({ method }) => (method === 'SETUP' ? { status: 453 } : undefined) }],
  ['redirected', { answer: () => ({ status: 302, headers: [['Location', 'rtsp://127.0.0.1:5432/']] }) }],
  ['unsupported', { sdp: videoSdp.replace('H264', 'H263') }],
  ['no_video', { sdp: 'v=0\ns=t\nm=audio 0 RTP/AVP 0\na=control:1\n' }],
  ['no_such_stream', { sdp: 'not a description' }],
  ['not_a_camera', { greet: (socket) => socket.write('220 mail.example ESMTP at your service\r\n'.repeat(9)) }],
]

for (const [code, script, options] of answers) {
  test(`the reason why no frames arrive is reported: ${code}`, async () => {
    await using camera = await openScriptedCamera(script)
    const { problem } = await detect(camera.url, options)
    assert.equal(problem?.code, code, problem?.detail)
    assert.ok(!problem!.detail.includes('wrong') && !problem!.detail.includes('ESMTP'))
  })
}

async function listen(t: TestContext, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return (server.address() as { port: number }).port
}

test('unreachable and forbidden hosts are reported', async (t) => {
  const closed = createServer()
  const port = await listen(t, closed)
  closed.close()
  assert.equal(await problemAt(`rtsp://127.0.0.1:${port}/`), 'unreachable')
  assert.equal(await problemAt('rtsp://no-such-host.invalid/'), 'unknown_host')
  assert.equal(await problemAt('rtsp://169.254.169.254/'), 'address_refused')
  assert.equal(await problemAt('http://127.0.0.1:5432/'), 'address_refused')
  const addressGuard = createAddressGuard({ allowLoopback: false })
  assert.equal(await problemAt('rtsp://2130706433:8554/', { addressGuard }), 'address_refused')
  const silent = await listen(
    t,
    createServer((socket) => t.after(() => socket.destroy())),
  )
  assert.equal(await problemAt(`rtsp://127.0.0.1:${silent}/`, { limits: { totalMs: 500, measureMs: 0 } }), 'timed_out')
})

const serve = (t: TestContext, listener: RequestListener) => listen(t, createHttpServer(listener))

test('HTTP cameras with an MJPEG stream and with a single image are detected', async (t) => {
  const port = await serve(t, (request, response) => {
    if (request.url === '/one.jpg') {
      response.writeHead(200, { 'content-type': 'image/jpeg' }).end(jpeg)
      return
    }
    response.writeHead(200, { 'content-type': 'multipart/x-mixed-replace; boundary=b' })
    const send = () => {
      response.write(`--b\r\ncontent-type: image/jpeg\r\ncontent-length: ${jpeg.length}\r\n\r\n`)
      response.write(jpeg)
      response.write('\r\n')
    }
    const timer = setInterval(send, 100)
    response.on('close', () => clearInterval(timer))
  })
  const moving = await detect(`http://127.0.0.1:${port}/video`)
  assert.deepEqual([moving.transport, moving.video?.codec, moving.video?.keyFrame?.width], ['http_stream', 'mjpeg', 64])
  assert.ok(moving.video!.framesPerSecond! > 1 && moving.video!.framesPerSecond! < 20)
  const still = await detect(`http://127.0.0.1:${port}/one.jpg`)
  assert.deepEqual([still.transport, still.video?.keyFrame?.height], ['http_picture', 48])
  assert.deepEqual([still.video?.framesPerSecond, still.problem], [undefined, undefined])
})

test('a web page, an error and a redirect over HTTP are not cameras', async (t) => {
  const port = await serve(t, ({ url }, response) => {
    if (url === '/page') response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Router</h1>')
    else response.writeHead(url === '/away' ? 302 : 404, { location: 'http://127.0.0.1:6379/' }).end()
  })
  assert.equal(await problemAt(`http://127.0.0.1:${port}/page`), 'no_such_stream')
  assert.equal(await problemAt(`http://127.0.0.1:${port}/none`), 'no_such_stream')
  assert.equal(await problemAt(`http://127.0.0.1:${port}/away`), 'redirected')
})

test('an aborted signal ends the connection', async () => {
  const asked = new AbortController()
  await using camera = await openScriptedCamera({
    play: (sender) => {
      sender.sendFrame(0, true)
      asked.abort(new Error('aborted'))
    },
  })
  await assert.rejects(detect(camera.url, { signal: asked.signal }), /aborted/)
  assert.equal(methodsOf(camera.requests).at(-1), 'TEARDOWN')
})

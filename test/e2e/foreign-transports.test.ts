// The ways a camera's pictures may come, from servers that are not ours: RTSP by datagrams and over TLS from GStreamer, MJPEG by HTTP from
// FFmpeg. What was sent is recorded, and what is recorded plays.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { generate } from 'selfsigned'
import { eventually, openServer, type ServerUnderTest } from '../server-under-test.ts'
import { openGstreamerCamera } from './gstreamer-camera.ts'
import { checkIncreasing, decode, probe } from './media-probe.ts'

type Camera = {
  status: string
  status_reason: string | null
  type: string
  audio_enabled: boolean
  streams: { format: string; url: string }[]
  live_snapshot: string
}

const fps = 25
const frames = 10 * fps

async function addCamera(server: ServerUnderTest, url: string, ...more: string[]) {
  const args = ['--user', 'owner@example.com', '--name', 'Foreign', '--url', url, ...more]
  const { id } = await server.command<{ id: number }>('camera', 'add', ...args)
  const read = async () => (await server.request<Camera>(`/v1/cameras/${id}/`)).json
  return { id, read }
}

test('H.264 with sound by datagrams, behind Digest, is recorded without a loss', { timeout: 120_000 }, async () => {
  await using server = await openServer()
  await using source = await openGstreamerCamera({
    ...{ streams: ['h264+aac'], transport: 'udp', frames, fps, width: 320, height: 180 },
    auth: { scheme: 'digest', user: 'viewer', password: 'sesame' },
  })
  const { id, read } = await addCamera(server, source.url(), '--record', 'P1D')
  await eventually('it is online', 20_000, async () => (await read()).status === 'online')
  assert.equal((await read()).audio_enabled, true)
  const sent = await eventually('the stream has ended', 40_000, async () => {
    const { 'h264+aac': stream } = await source.sent()
    return stream?.ended === true && stream
  })
  await new Promise((resolve) => setTimeout(resolve, 1000))
  assert.equal(await server.stop(), 0)
  let count = 0
  for (const file of globSync(join(server.dataDir, `archive/cameras/${id}/**/*.mp4`))) {
    const { video, audio, complaints } = await probe(file)
    assert.deepEqual([video?.codec, audio?.codec, complaints], ['h264', 'aac', ''])
    checkIncreasing(video!, 0.2)
    count += video!.packets.length
    await decode(file)
  }
  assert.equal(count, sent.pictures)
})

test('H.264 over TLS with a certificate of its own is online and seen', { timeout: 60_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'nightjar-camera-'))
  try {
    const { private: key, cert } = await generate([{ name: 'commonName', value: 'camera' }])
    const identity = join(folder, 'identity.pem')
    await writeFile(identity, `${cert}\n${key}`)
    await using server = await openServer()
    const auth = { scheme: 'digest', user: 'viewer', password: 'sesame' } as const
    await using source = await openGstreamerCamera({ identity, auth })
    const { read } = await addCamera(server, source.url())
    await eventually('it is online', 20_000, async () => (await read()).status === 'online')
    const snapshot = await probe((await read()).live_snapshot)
    assert.equal(snapshot.video?.width, 640)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

/** FFmpeg's own idea of MJPEG over HTTP, a process for each connection. */
async function openFfmpegCamera() {
  const server = createServer((_, response) => {
    const source = 'testsrc2=size=320x240:rate=10'
    const args = ['-v', 'error', '-re', '-f', 'lavfi', '-i', source, '-c:v', 'mjpeg', '-f', 'mpjpeg', 'pipe:1']
    const child = spawn('ffmpeg', args, { stdio: ['ignore', 'pipe', 'inherit'] })
    response.writeHead(200, { 'content-type': 'multipart/x-mixed-replace; boundary=ffmpeg' })
    child.stdout.pipe(response)
    response.on('close', () => child.kill())
    response.on('error', () => {})
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  return {
    url: `http://127.0.0.1:${port}/stream.mjpg`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

test('MJPEG by HTTP is online, seen as a stream and as a snapshot, and recorded', { timeout: 90_000 }, async () => {
  await using server = await openServer()
  await using source = await openFfmpegCamera()
  const { id, read } = await addCamera(server, source.url, '--record', 'P1D')
  await eventually('it is online', 20_000, async () => (await read()).status === 'online')
  const camera = await read()
  assert.equal(camera.type, 'mjpeg')
  assert.deepEqual(
    camera.streams.map(({ format }) => format),
    ['mjpeg'],
  )
  const seen = await probe(camera.streams[0]!.url, { seconds: 3 })
  assert.deepEqual([seen.video?.codec, seen.video?.width], ['mjpeg', 320])
  assert.ok(seen.video!.packets.length >= 20, `${seen.video!.packets.length} pictures in 3 s`)
  assert.equal((await probe(camera.live_snapshot)).video?.width, 320)
  await new Promise((resolve) => setTimeout(resolve, 3000))
  assert.equal(await server.stop(), 0)
  const files = globSync(join(server.dataDir, `archive/cameras/${id}/**/*.mp4`))
  assert.ok(files.length > 0)
  for (const file of files) {
    const { video, complaints } = await probe(file)
    assert.deepEqual([video?.codec, complaints], ['mjpeg', ''])
    checkIncreasing(video!, 0.5)
    await decode(file)
  }
})

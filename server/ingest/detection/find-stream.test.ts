import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { openOnvifCamera } from '../../../test/onvif/onvif-camera.ts'
import { openScriptedCamera, type Script } from '../../../test/support/ingest/scripted-camera.ts'
import { systemClock } from '../../base/clock.ts'
import { silentLogger } from '../../base/log.ts'
import { createAddressGuard } from '../network/address-guard.ts'
import { ConnectLimiter } from '../network/connect-limiter.ts'
import { SharedReads } from '../network/shared-reads.ts'
import { findStream } from './find-stream.ts'

const search = (url: string, login: { username?: string; password?: string } = {}) =>
  findStream({
    context: {
      clock: systemClock,
      log: silentLogger,
      addressGuard: createAddressGuard({ allowLoopback: true }),
      connectLimiter: new ConnectLimiter(4),
      reads: new SharedReads(),
    },
    target: { url, username: undefined, password: undefined, ...login, depth: 'type', canSeeProblems: true },
    signal: new AbortController().signal,
  })

const basic = [['WWW-Authenticate', 'Basic realm="x"'] as [string, string]]

/** Knows one path. `asked` counts the paths that were asked for. */
async function openCameraWith(path: string, script: Script = {}) {
  const asked: string[] = []
  const camera = await openScriptedCamera({
    ...script,
    answer: (request, count) => {
      if (request.method === 'DESCRIBE') {
        asked.push(request.url)
        if (!request.url.endsWith(path)) return { status: 404 }
      }
      return script.answer?.(request, count)
    },
  })
  const root = `rtsp://${new URL(camera.url).host}`
  return { root, asked, [Symbol.asyncDispose]: () => camera[Symbol.asyncDispose]() }
}

test('the stream of a host is found among the usual paths, and no path is asked for after it', async () => {
  await using camera = await openCameraWith('/stream1')
  const found = await search(camera.root)
  assert.deepEqual([found.url, found.video?.codec, found.problem], [`${camera.root}/stream1`, 'h264', undefined])
  assert.ok(camera.asked.length > 3)
  assert.ok(
    camera.asked.slice(-2).every((url) => url.endsWith('/stream1')),
    String(camera.asked),
  )
})

test('a camera that refuses a login is sent it once', async () => {
  await using camera = await openCameraWith('', {
    answer: ({ method }) => (method === 'DESCRIBE' ? { status: 401, headers: basic } : undefined),
  })
  const found = await search(camera.root, { username: 'ada', password: 'wrong' })
  assert.deepEqual([found.url, found.problem?.code], [`${camera.root}/`, 'login_refused'])
  assert.ok(new Set(camera.asked).size === 1, String(camera.asked))
})

test('a camera that has none of the usual paths, and no camera at all, are told apart', async (t) => {
  await using camera = await openCameraWith('/unusual')
  const found = await search(camera.root)
  assert.equal(found.problem?.code, 'no_such_stream')
  assert.match(found.problem!.detail, /no stream at any of the usual addresses/)
  const closed = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => closed.once('listening', resolve))
  const { port } = closed.address() as { port: number }
  closed.close()
  t.after(() => closed.close())
  assert.equal((await search(`rtsp://127.0.0.1:${port}/`)).problem?.code, 'unreachable')
})

test('a device tells its main stream by ONVIF, and a stream at another host is not connected to', async () => {
  await using camera = await openCameraWith('/hidden/main')
  const profile = { token: 'p', name: 'main', encoding: 'H264', width: 640, height: 360 }
  await using device = await openOnvifCamera({ profiles: [{ ...profile, url: `${camera.root}/hidden/main` }] })
  const found = await search(`rtsp://${device.host}/`)
  assert.deepEqual([found.url, found.problem], [`${camera.root}/hidden/main`, undefined])
  const elsewhere = camera.root.replace('127.0.0.1', '127.0.0.2')
  await using liar = await openOnvifCamera({ profiles: [{ ...profile, url: `${elsewhere}/hidden/main` }] })
  assert.notEqual((await search(`rtsp://${liar.host}/`)).problem, undefined)
  assert.deepEqual(new Set(camera.asked), new Set([`${camera.root}/hidden/main`]))
})

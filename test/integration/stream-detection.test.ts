// Stream detection and discovery of a real server with real cameras, through the API and on the command line.

import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { request as httpsRequest } from 'node:https'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { OnvifDevice, OnvifDiscovery, StreamDetection } from '../../contract/detection.ts'
import { parseJpegHeader } from '../../server/media/jpeg/jpeg-header.ts'
import { type FakeCamera, openFakeCamera } from '../fake-camera/fake-camera.ts'
import { openOnvifCamera } from '../onvif/onvif-camera.ts'
import { eventually, openServerHere, type ServerUnderTest } from '../server-under-test.ts'

const path = '/v1/cameras/stream-detection/'
const discoveryPath = '/v1/cameras/onvif-discovery/'
const profilesPath = '/v1/cameras/onvif-profiles/'
const login = { username: 'ada', password: 'sesame' }

let camera: FakeCamera
let server: ServerUnderTest

before(async () => {
  const common = { framesPerSecond: 25, gopFrames: 25, loopSeconds: 4 }
  camera = await openFakeCamera({
    auth: { scheme: 'digest-md5', ...login },
    streams: [
      { ...common, name: 'yard', width: 320, height: 180, hasAudio: false, bitsPerSecond: 400_000 },
      { ...common, name: 'hall', width: 320, height: 180, codec: 'h265', bitsPerSecond: 400_000 },
      // Its key frames fill the memory that frames share.
      { ...common, name: 'wide', width: 1280, height: 720, bitsPerSecond: 16_000_000 },
    ],
  })
  server = await openServerHere()
})

after(async () => {
  await server[Symbol.asyncDispose]()
  await camera[Symbol.asyncDispose]()
})

const detect = (body: object) => server.request<StreamDetection>(path, { method: 'POST', body })
const players = () => camera.stats().connections

test("detection reports the measured properties of a camera's stream and a small image", async () => {
  const { status, json } = await detect({ url: camera.url('yard'), ...login })
  assert.equal(status, 200)
  const { video, snapshot, problem, ...rest } = json
  assert.equal(problem, null)
  assert.deepEqual(rest, {
    url: camera.url('yard'),
    type: 'h264',
    transport: 'rtsp_tcp',
    audio: null,
    audio_problem: null,
  })
  assert.deepEqual([video?.width, video?.height, video?.key_frame_interval], [320, 180, 1])
  assert.ok(Math.abs(video!.frame_rate! - 25) < 0.5, `${video!.frame_rate} frames/s`)
  assert.ok(video!.bit_rate! > 50_000 && video!.bit_rate! < 2_000_000, `${video!.bit_rate} bit/s`)
  const [head, base64] = snapshot!.url.split(',')
  assert.equal(head, 'data:image/jpeg;base64')
  const { width, height } = parseJpegHeader(Buffer.from(base64!, 'base64'))
  assert.deepEqual([width, height], [snapshot!.width, snapshot!.height])
  await eventually('the camera is disconnected', 5000, async () => players() === 0)
})

test('detection measures a stream of a high bit rate', async () => {
  const { status, json } = await detect({ url: camera.url('wide'), ...login })
  assert.deepEqual([status, json.problem, json.video?.width], [200, null, 1280])
  assert.ok(json.snapshot)
})

test('detection of a failing URL reports the reason and suggests a login or path', async () => {
  const needed = await detect({ url: camera.url('yard') })
  assert.equal(needed.json.problem?.code, 'login_needed')
  const refused = await detect({ url: camera.url('yard').replace('//', '//ada:wr%6Fng@') })
  assert.equal(refused.json.problem?.code, 'login_refused')
  assert.ok(!refused.text.includes('wrong') && !refused.text.includes('ada'), 'without user information')
  const unknown = await detect({ url: camera.url('yard').replace('yard', 'nowhere'), ...login })
  const { code, suggestions } = unknown.json.problem!
  assert.equal(code, 'no_such_stream')
  const { host } = new URL(camera.url('yard'))
  assert.ok(suggestions.length > 0 && suggestions.every(({ url }) => url.startsWith(`rtsp://${host}/`)))
  assert.deepEqual([unknown.json.type, unknown.json.video, unknown.json.snapshot], [null, null, null])
})

test('an invalid URL is a bad request, and a forbidden one gets a result', async () => {
  for (const url of ['', 'my yard', 'ftp://192.168.1.20/', 'rtsp://', 'file:///etc/passwd', 'rtsp://cam/#x']) {
    const { status, json } = await server.request<{ errors: object }>(path, { method: 'POST', body: { url } })
    assert.deepEqual([status, Object.keys(json.errors)], [400, ['url']], url)
  }
  for (const url of ['rtsp://169.254.169.254/latest', 'http://127.0.0.1:5432/', 'http://[::ffff:127.0.0.1]:80/']) {
    const { status, json } = await detect({ url })
    assert.deepEqual([status, json.problem?.code], [200, 'address_refused'], url)
  }
})

test('an account can run two detections at once, and a closed connection makes room for another', async () => {
  camera.faults.stall(60_000)
  const body = JSON.stringify({ url: camera.url('yard'), ...login })
  const headers = { authorization: `PersonalAccessToken ${server.token}`, 'content-type': 'application/json' }
  const open = () => {
    const request = httpsRequest(new URL(path, server.url), { method: 'POST', ca: server.ca, agent: false, headers })
    request.on('error', () => {})
    request.end(body)
    return request
  }
  const waiting = [open(), open()]
  await eventually('both are connected', 5000, async () => players() === 2)
  const { status, headers: answered } = await detect({ url: camera.url('hall'), ...login })
  assert.deepEqual([status, answered['retry-after']], [429, '5'])
  for (const request of waiting) request.destroy()
  await eventually('the connections to the camera end when their clients disconnect', 4000, async () => players() === 0)
  camera.faults.stall(0)
  assert.equal((await detect({ url: camera.url('hall'), ...login })).json.type, 'h265')
})

test('detection requires the permission to add cameras', async () => {
  const requests = [
    [path, { url: 'rtsp://169.254.169.254/' }],
    [profilesPath, { url: '169.254.169.254' }],
  ] as const
  const tokenOf = async (...scopes: string[]) => {
    const args = ['--user', 'owner@example.com', ...scopes.flatMap((scope) => ['--scope', scope])]
    return `PersonalAccessToken ${(await server.command<{ token: string }>('token', 'create', ...args)).token}`
  }
  const statusesWith = async (authorization: string | null) => {
    const answers = requests.map(([at, body]) => server.request(at, { method: 'POST', body, authorization }))
    return (await Promise.all(answers)).map(({ status }) => status)
  }
  assert.deepEqual(await statusesWith(null), [401, 401])
  const listener = await tokenOf('camera_access')
  const discovery = await server.request(discoveryPath, { method: 'POST', authorization: listener })
  assert.equal(discovery.status, 403)
  await server.command('user', 'add', '--email', 'una@example.com', '--password', 'a heron in the reeds')
  const { token } = await server.command<{ token: string }>('token', 'create', '--user', 'una@example.com')
  const authorization = `PersonalAccessToken ${token}`
  const other = await server.request(discoveryPath, { method: 'POST', authorization })
  assert.equal(other.status, 403, 'the network is that of the owner')
  for (const [scope, status] of [
    ['camera_create', 200],
    ['read write', 200],
    ['user_access', 200],
    ['read', 403],
    ['camera_manage camera_access', 403],
  ] as const) {
    assert.deepEqual(await statusesWith(await tokenOf(scope)), [status, status], scope)
  }
})

test('a camera that is added without a type gets the detected or the most likely type', async () => {
  const add = async (body: object) =>
    (await server.request<{ type: string }>('/v1/cameras/', { method: 'POST', body: { name: 'Cam', ...body } })).json
      .type
  assert.equal(await add({ url: camera.url('hall'), ...login }), 'h265')
  assert.equal(await add({ url: camera.url('yard'), ...login }), 'h264')
  assert.equal(await add({ url: camera.url('hall'), ...login, type: 'mjpeg' }), 'mjpeg')
  assert.equal(await add({ url: 'rtsp://127.0.0.1:9/none' }), 'h264')
  assert.equal(await add({ url: 'http://127.0.0.1:9/none' }), 'mjpeg')
})

type Ended = { readonly code: number; readonly stdout: string }

/** Runs the command line without a server and without data. */
function runCamera(...args: string[]): Promise<Ended> {
  const entry = fileURLToPath(new URL('../../server/commands/nightjar.ts', import.meta.url))
  return new Promise((resolve) => {
    const commandArgs = [entry, 'camera', ...args, '--allow-loopback-cameras']
    execFile(process.execPath, commandArgs, (error, stdout) => resolve({ code: Number(error?.code ?? 0), stdout }))
  })
}

test('nightjar camera probe reports the stream of a URL', async () => {
  const url = camera.url('yard').replace('//', '//ada:sesame@')
  const file = join(server.dataDir, 'probe.jpg')
  const { code, stdout } = await runCamera('probe', url, '--snapshot', file)
  assert.equal(code, 0, stdout)
  assert.match(stdout, /^Video: +h264 \(avc1\.\w+\), 320 × 180, 25 frames\/s$/m)
  assert.match(stdout, /^Key frames: every 1 s$/m)
  assert.ok(!stdout.includes('sesame'))
  assert.equal(parseJpegHeader(await readFile(file)).width, 320)
  const unknown = await runCamera('probe', url.replace('yard', 'nowhere'))
  assert.equal(unknown.code, 1)
  assert.match(unknown.stdout, /\(no_such_stream\)\nUsual addresses at this host:\n {2}Hikvision {2,}rtsp:/)
  const { code: refused, stdout: json } = await runCamera('probe', 'rtsp://169.254.1.1/', '--json')
  assert.deepEqual([refused, JSON.parse(json).problem.code], [1, 'address_refused'])
})

test('a session that nightjar camera record-session wrote is a camera again with camera replay', async () => {
  const url = camera.url('yard').replace('//', '//ada:sesame@')
  const file = join(server.dataDir, 'session.jsonl')
  const refused = await runCamera('record-session', url, '--to', file)
  assert.deepEqual([refused.code, existsSync(file)], [2, false], 'it asks before it records')
  const { code, stdout } = await runCamera('record-session', url, '--to', file, '--seconds', '3', '--yes')
  assert.equal(code, 0, stdout)
  assert.match(stdout, /^Video: +h264 .*, 320 × 180, 25 frames\/s$/m)
  assert.match(stdout, /^Recorded: +\S+session\.jsonl \(.*B\)$/m)
  const text = await readFile(file, 'utf8')
  // The base64 of media may contain any three letters, but no colon, at sign or escaped quotation mark after them.
  assert.ok(!/sesame|ada[:@\\]/.test(text) && text.includes('Authorization: Digest x'))
  assert.equal((await runCamera('record-session', url, '--to', file, '--yes')).code, 1, 'nothing is overwritten')
  const entry = fileURLToPath(new URL('../../server/commands/nightjar.ts', import.meta.url))
  const replaying = spawn(process.execPath, [entry, 'camera', 'replay', file, '--port', '0', '--json'])
  const [line] = await once(replaying.stdout, 'data')
  const again = await runCamera('probe', JSON.parse(String(line)).url.replace('//', '//any:thing@'))
  assert.match(again.stdout, /^Video: +h264 .*, 320 × 180, 25 frames\/s$/m)
  replaying.kill('SIGINT')
  assert.deepEqual(await once(replaying, 'exit'), [0, null])
})

test('a recording that is interrupted keeps what has been recorded', async () => {
  const url = camera.url('yard').replace('//', '//ada:sesame@')
  const file = join(server.dataDir, 'interrupted.jsonl')
  const entry = fileURLToPath(new URL('../../server/commands/nightjar.ts', import.meta.url))
  const args = [entry, 'camera', 'record-session', url, '--to', file, '--seconds', '60', '--yes']
  await eventually('nobody else is connected', 15_000, async () => players() === 0)
  const recording = spawn(process.execPath, [...args, '--allow-loopback-cameras'])
  const ended = once(recording, 'exit')
  await eventually('the camera plays', 15_000, async () => camera.stats().streams.yard!.players === 1)
  recording.kill('SIGINT')
  assert.deepEqual(await ended, [0, null])
  assert.ok((await readFile(file, 'utf8')).includes('DESCRIBE'))
})

const openOnvif = () => {
  const size = { encoding: 'H264', width: 320, height: 180 }
  return openOnvifCamera({
    auth: { kind: 'wsse', ...login },
    profiles: [
      { ...size, token: 'a', name: 'small', url: camera.url('yard') },
      { token: 'b', name: 'large', encoding: 'H265', width: 1280, height: 720, url: camera.url('hall') },
      { ...size, token: 'c', name: 'elsewhere', url: 'rtsp://169.254.1.1/' },
    ],
    discovery: { scopes: ['onvif://www.onvif.org/name/Fake'], isInGroup: true },
  })
}

test('ONVIF cameras and their streams are discovered, and one of them is added', async () => {
  await using onvif = await openOnvif()
  const found = await server.request<OnvifDiscovery>(discoveryPath, { method: 'POST' })
  const device = found.json.devices.find(({ url }) => url === onvif.url)
  assert.deepEqual([found.status, device?.name, device?.address], [200, 'Fake', '127.0.0.1'])
  const ask = (body: object) => server.request<OnvifDevice>(profilesPath, { method: 'POST', body })
  assert.equal((await ask({ url: onvif.host })).json.problem?.code, 'login_needed')
  const { json } = await ask({ url: device!.url, ...login })
  assert.deepEqual([json.problem, json.manufacturer, json.url], [null, 'Acme & Sons', onvif.url])
  assert.deepEqual(
    json.profiles.map(({ name, use, type, url }) => [name, use, type, url]),
    [
      ['small', 'sub', 'h264', camera.url('yard')],
      ['large', 'main', 'h265', camera.url('hall')],
      ['elsewhere', null, 'h264', null],
    ],
  )
  const { url } = json.profiles.find(({ use }) => use === 'main')!
  const added = await server.request<{ type: string }>('/v1/cameras/', {
    method: 'POST',
    body: { name: 'Found', url, ...login },
  })
  assert.deepEqual([added.status, added.json.type], [201, 'h265'])
  for (const url of ['rtsp://cam/', '', 'a b']) assert.equal((await ask({ url })).status, 400, url)
  assert.equal((await ask({ url: '169.254.169.254' })).json.problem?.code, 'address_refused')
})

test('nightjar camera discover and camera profiles list devices and their streams', async () => {
  await using onvif = await openOnvif()
  const found = await runCamera('discover')
  assert.equal(found.code, 0)
  assert.ok(found.stdout.includes(onvif.url), found.stdout)
  const { code, stdout } = await runCamera('profiles', `ada:sesame@${onvif.host}`)
  assert.equal(code, 0, stdout)
  assert.match(stdout, /^Acme & Sons Dome 4 \(1\.2\.3\)\nUSE +NAME/)
  assert.match(stdout, /^main +large +H265, 1280 × 720, 25\/s, 2\.0 Mbit\/s +no +rtsp:\/\/127/m)
  const refused = await runCamera('profiles', onvif.host, '--json')
  assert.deepEqual([refused.code, JSON.parse(refused.stdout).problem.code], [1, 'login_needed'])
})

// Users who may add cameras must not learn from responses or response times what is in the networks behind the server.
// This machine simulates such a network: one port is closed, and others are silent, require a password, or are not a
// camera.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { after, before, test } from 'node:test'
import type { Camera } from '../../contract/camera.ts'
import type { OnvifDevice, StreamDetection } from '../../contract/detection.ts'
import { type FakeCamera, openFakeCamera } from '../fake-camera/fake-camera.ts'
import { eventually, openServer, type ServerUnderTest } from '../server-under-test.ts'
import { findOwnPort } from '../support/own-port.ts'

const stream = { name: 'yard', width: 320, height: 180, framesPerSecond: 25, gopFrames: 25, loopSeconds: 4 }
const login = { username: 'ada', password: 'sesame' }
const sentence =
  'No frames arrive from this URL: check the host, port, path, username and password. In a private network, only owners of the server see the exact problem.'

let server: ServerUnderTest
let camera: FakeCamera
const listening: Server[] = []
/** Host and port by what is there. */
const places: Record<string, string> = {}

async function listen(on: Server): Promise<string> {
  listening.push(on)
  on.listen(0, '127.0.0.1')
  await once(on, 'listening')
  return `127.0.0.1:${(on.address() as AddressInfo).port}`
}

before(async () => {
  const streams = [{ ...stream, hasAudio: false, bitsPerSecond: 200_000 }]
  camera = await openFakeCamera({ auth: { scheme: 'digest-md5', ...login }, streams })
  places.refused = `127.0.0.1:${await findOwnPort()}`
  places.silent = await listen(createServer((socket) => void socket.on('error', () => {})))
  places.reset = await listen(createServer((socket) => void socket.destroy()))
  places.page = await listen(createHttpServer((_, response) => void response.end('<h1>Router</h1>')))
  places.guarded = await listen(
    createHttpServer((_, response) => void response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end()),
  )
  places.banner = await listen(createServer((socket) => void socket.on('error', () => {}).write('SSH-2.0-x\r\n')))
  places.camera = new URL(camera.url('yard')).host
  server = await openServer()
})

after(async () => {
  await server[Symbol.asyncDispose]()
  await camera[Symbol.asyncDispose]()
  for (const each of listening) {
    if ('closeAllConnections' in each) (each as ReturnType<typeof createHttpServer>).closeAllConnections()
    each.close()
  }
})

/** Creates an account that does not own the server. */
async function addPerson(name: string): Promise<string> {
  const person = ['--email', `${name}@example.com`, '--first-name', name, '--last-name', 'Person']
  await server.command('user', 'add', '--password', 'correct horse', ...person)
  const { token } = await server.command<{ token: string }>('token', 'create', '--user', `${name}@example.com`)
  return `PersonalAccessToken ${token}`
}

const post = <T>(path: string, body: object, authorization?: string) =>
  server.request<T>(path, { method: 'POST', body, ...(authorization && { authorization }) })

const urls = () => [
  ...Object.values(places).map((at) => `rtsp://${at}/yard`),
  ...[places.refused, places.page, places.guarded].map((at) => `http://${at}/yard`),
]

/** Runs two at a time, the maximum number of detections of one account. */
async function inPairs<A, B>(list: readonly A[], work: (item: A) => Promise<B>): Promise<B[]> {
  const rest = list.entries()
  const results: B[] = []
  const run = async () => {
    for (const [i, item] of rest) results[i] = await work(item)
  }
  await Promise.all([run(), run()])
  return results
}

test('for accounts that do not own the server, every failed detection has the same result and takes the same time', async () => {
  const stranger = await addPerson('detect')
  const answers = await inPairs(urls(), async (url) => {
    const startedMs = performance.now()
    const { json } = await post<StreamDetection>('/v1/cameras/stream-detection/', { url }, stranger)
    return { ...json, url: '', isLate: performance.now() - startedMs > 10_000 }
  })
  const same = {
    url: '',
    type: null,
    transport: null,
    video: null,
    audio: null,
    audio_problem: null,
    snapshot: null,
    problem: { code: 'not_told', detail: sentence, suggestions: [] },
    isLate: true,
  }
  for (const [i, answer] of answers.entries()) assert.deepEqual(answer, same, urls()[i])
  const seen = { url: camera.url('yard'), ...login }
  const found = await post<StreamDetection>('/v1/cameras/stream-detection/', seen, stranger)
  assert.deepEqual([found.json.type, found.json.problem], ['h264', null], 'a camera with known credentials is reported')
})

test('the owner of the server gets detailed errors', async () => {
  const codes = await inPairs(['refused', 'page', 'guarded', 'camera'], async (place) => {
    const url = `${place === 'page' || place === 'guarded' ? 'http' : 'rtsp'}://${places[place]}/yard`
    return (await post<StreamDetection>('/v1/cameras/stream-detection/', { url })).json.problem?.code
  })
  assert.deepEqual(codes, ['unreachable', 'no_such_stream', 'login_needed', 'login_needed'])
})

test('for such accounts, ONVIF queries reveal no more than detection', async () => {
  const stranger = await addPerson('onvif')
  const answers = await inPairs([places.refused, places.silent, places.page, places.guarded], async (at) => {
    const startedMs = performance.now()
    const { json } = await post<OnvifDevice>('/v1/cameras/onvif-profiles/', { url: `http://${at}/` }, stranger)
    return { problem: json.problem, isLate: performance.now() - startedMs > 12_000 }
  })
  for (const answer of answers)
    assert.deepEqual(answer, { problem: { code: 'not_told', detail: sentence }, isLate: true })
})

test('for such accounts, the status of a camera reveals no more, and no earlier', async () => {
  const stranger = await addPerson('status')
  const cameras = await inPairs(urls(), async (url) => {
    const startedMs = performance.now()
    const { json } = await post<Camera>('/v1/cameras/', { name: 'x', type: 'h264', url }, stranger)
    const path = `/v1/cameras/${json.id}/`
    const { status_code, status_reason, type } = await eventually('the reason is reported', 60_000, async () => {
      const { json } = await server.request<Camera>(path, { authorization: stranger })
      return json.status === 'offline' && json
    })
    return { status_code, status_reason, type, isLate: performance.now() - startedMs > 9500 }
  })
  for (const [i, each] of cameras.entries()) {
    const same = { status_code: 'not_told', status_reason: sentence, type: 'h264', isLate: true }
    assert.deepEqual(each, same, urls()[i])
  }
  const body = { name: 'x', url: `rtsp://${places.refused}/yard` }
  const own = (await post<Camera>('/v1/cameras/', body)).json
  const status = await eventually('the reason is reported to the owner', 60_000, async () => {
    const { json } = await server.request<Camera>(`/v1/cameras/${own.id}/`)
    return json.status === 'offline' && json.status_code
  })
  assert.equal(status, 'unreachable')
})

test('detections, new cameras and changes of a URL or password share one limit of connection attempts', async () => {
  const stranger = await addPerson('tries')
  const url = (i: number) => `rtsp://${places.refused}/${i}`
  const startedMs = performance.now()
  const first = await post<Camera>('/v1/cameras/', { name: 'x', type: 'h264', url: url(0) }, stranger)
  assert.equal(first.status, 201)
  const at = `/v1/cameras/${first.json.id}/`
  const kinds = {
    detection: () => post('/v1/cameras/stream-detection/', { url: 'rtsp://169.254.169.254/' }, stranger),
    profiles: () => post('/v1/cameras/onvif-profiles/', { url: 'http://169.254.169.254/' }, stranger),
    adding: (i: number) => post('/v1/cameras/', { name: 'x', type: 'h264', url: url(i) }, stranger),
    address: (i: number) =>
      server.request(at, { method: 'PUT', body: { url: url(i), username: 'a' }, authorization: stranger }),
    password: (i: number) => server.request(at, { method: 'PUT', body: { password: `${i}` }, authorization: stranger }),
  }
  let tries = 1
  const refused = new Set<string>()
  for (let i = 1; refused.size < 5 && i < 1000; i++) {
    for (const [kind, attempt] of Object.entries(kinds)) {
      const { status, headers, json } = await attempt(i)
      if (status !== 429) tries++
      else {
        refused.add(kind)
        const seconds = Number(headers['retry-after'])
        assert.ok(seconds >= 1 && seconds <= 60, `${seconds}`)
        assert.match((json as { detail: string }).detail, /Expected available in \d+ seconds?\.$/)
      }
    }
  }
  assert.equal(refused.size, 5)
  const allowed = 30 + (performance.now() - startedMs) / 2000 + 1
  assert.ok(tries <= allowed, `${tries} tries where ${allowed} are allowed`)
  const renamed = await server.request(at, { method: 'PUT', body: { name: 'y' }, authorization: stranger })
  assert.equal(renamed.status, 200, 'a change that needs no connection does not count')
})

test('a camera with the right login comes online for any account', async () => {
  const stranger = await addPerson('known')
  const body = { name: 'x', url: camera.url('yard'), ...login }
  const { id } = (await post<Camera>('/v1/cameras/', body, stranger)).json
  await eventually('it is online', 60_000, async () => {
    return (await server.request<Camera>(`/v1/cameras/${id}/`, { authorization: stranger })).json.status === 'online'
  })
})

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { type OnvifCameraOptions, openOnvifCamera } from '../../../test/onvif/onvif-camera.ts'
import { systemClock } from '../../base/clock.ts'
import { silentLogger } from '../../base/log.ts'
import { type AddressGuard, createAddressGuard } from '../network/address-guard.ts'
import { type ReadDeviceOptions, readOnvifDevice } from './read-device.ts'

const login = { username: 'ada', password: 'sesame' }

const profiles: OnvifCameraOptions['profiles'] = [
  {
    token: 'p-1',
    name: 'main',
    encoding: 'H265',
    width: 2560,
    height: 1440,
    hasAudio: true,
    url: 'rtsp://ada:x@127.0.0.1:8554/main?a=1&b=2',
  },
  { token: 'p2', name: 'sub', encoding: 'H264', width: 640, height: 360, url: 'rtsp://127.0.0.1:8554/sub' },
]

function read(url: string, options: Partial<ReadDeviceOptions> & { username?: string; password?: string } = {}) {
  const { username, password, ...rest } = options
  return readOnvifDevice({
    target: { url, username, password, canSeeProblems: true },
    clock: systemClock,
    log: silentLogger,
    addressGuard: createAddressGuard({ allowLoopback: true }),
    signal: new AbortController().signal,
    ...rest,
  })
}

const device = { manufacturer: 'Acme & Sons', model: 'Dome 4', firmwareVersion: '1.2.3' }

test('device information, profiles and stream URLs are read without user information', async () => {
  await using camera = await openOnvifCamera({ profiles })
  const found = await read(camera.url)
  assert.deepEqual([found.device, found.problem], [device, undefined])
  const [main, sub] = found.profiles
  assert.deepEqual(main, {
    token: 'p-1',
    name: 'main',
    codec: 'h265',
    encoding: 'H265',
    width: 2560,
    height: 1440,
    framesPerSecond: 25,
    bitRateKbps: 2048,
    hasAudio: true,
    url: 'rtsp://127.0.0.1:8554/main?a=1&b=2',
    snapshotUrl: `http://${camera.host}/snapshot.jpg?channel=1&subtype=0`,
    urlProblem: undefined,
  })
  assert.deepEqual([sub!.codec, sub!.hasAudio, sub!.url], ['h264', false, 'rtsp://127.0.0.1:8554/sub'])
})

for (const kind of ['wsse', 'digest'] as const) {
  test(`a login by ${kind} is accepted, refused or reported as missing`, async () => {
    await using camera = await openOnvifCamera({ profiles, auth: { kind, ...login } })
    assert.equal((await read(camera.url, login)).profiles.length, 2)
    const wrong = await read(camera.url, { ...login, password: 'wrong' })
    assert.deepEqual([wrong.problem?.code, wrong.device, wrong.profiles], ['login_refused', undefined, []])
    assert.ok(!wrong.problem!.detail.includes('secret reasons'))
    const asked = camera.operations.length
    assert.equal((await read(camera.url)).problem?.code, 'login_needed')
    assert.deepEqual(camera.operations.slice(asked), ['GetSystemDateAndTime', 'GetDeviceInformation'])
  })
}

test('a login to a camera whose clock is years behind succeeds', async () => {
  await using camera = await openOnvifCamera({
    profiles,
    auth: { kind: 'wsse', ...login },
    clockOffsetMs: -5 * 365 * 86_400_000,
  })
  assert.equal((await read(camera.url, login)).problem, undefined)
})

test('old cameras without Media2, without GetServices and without a time are read', async () => {
  await using camera = await openOnvifCamera({ profiles, lacks: ['media2', 'services', 'time'] })
  const found = await read(camera.url)
  assert.equal(found.problem, undefined)
  assert.deepEqual(
    found.profiles.map(({ codec, url }) => [codec, url]),
    [['h264', 'rtsp://127.0.0.1:8554/sub']],
  )
})

test('behind a router, services are requested at the given host, whatever URL the camera sends', async () => {
  await using camera = await openOnvifCamera({ profiles, reportedHost: '192.0.2.1' })
  assert.equal((await read(camera.url)).profiles.length, 2)
})

test('the stream URLs that a camera sends are checked like every camera URL', async () => {
  const urls = [
    'rtsp://169.254.169.254/',
    'rtsp://127.0.0.1:5432/',
    'ftp://127.0.0.1/',
    'rtsp://[::ffff:127.0.0.1]/',
    undefined,
  ]
  await using camera = await openOnvifCamera({
    profiles: urls.map((url, i) => ({ ...profiles[1]!, token: `p${i}`, url })),
  })
  const found = await read(camera.url)
  assert.equal(found.profiles.length, urls.length)
  for (const { url, urlProblem } of found.profiles) {
    assert.equal(url, undefined)
    assert.match(urlProblem ?? '', /^[A-Z].*[^.]\.$/)
  }
})

const fault = '<e:Envelope><e:Body><e:Fault><e:Code><e:Value>x</e:Value></e:Code></e:Fault></e:Body></e:Envelope>'
const answers: readonly (readonly [name: string, status: number, body: string, code: string])[] = [
  ['a web page', 200, '<html><body>Router</body></html>', 'not_a_camera'],
  ['a missing page', 404, 'not here', 'not_a_camera'],
  ['a redirect', 302, '', 'redirected'],
  ['a document type', 200, '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', 'not_a_camera'],
  ['a response that is too large', 200, `<a>${' '.repeat(300_000)}</a>`, 'not_a_camera'],
  ['a fault', 500, fault, 'failed'],
  ['an empty body', 200, '<e:Envelope><e:Body/></e:Envelope>', 'not_a_camera'],
]

for (const [name, status, body, code] of answers) {
  test(`a device without ONVIF is reported: ${name}`, async () => {
    await using camera = await openOnvifCamera({ profiles, answer: () => ({ status, body }) })
    const found = await read(camera.url)
    assert.deepEqual([found.problem?.code, found.profiles], [code, []], found.problem?.detail)
  })
}

test('an endless response is aborted', async (t) => {
  let sentBytes = 0
  const server = createServer((_, response) => {
    const send = () => {
      while (sentBytes < 64e6) {
        sentBytes += 65_536
        if (!response.write(Buffer.alloc(65_536, ' '))) {
          response.once('drain', send)
          return
        }
      }
      response.end()
    }
    send()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const found = await read(`http://127.0.0.1:${port}/onvif/device_service`)
  assert.equal(found.problem?.code, 'not_a_camera')
  assert.ok(sentBytes < 32e6, `${sentBytes} bytes`)
})

test('unreachable and forbidden hosts are reported', async () => {
  const problemAt = async (url: string, options: Partial<ReadDeviceOptions> = {}) =>
    (await read(url, options)).problem?.code
  assert.equal(await problemAt('http://169.254.169.254/onvif/device_service'), 'address_refused')
  assert.equal(await problemAt('http://no-such-host.invalid/'), 'unknown_host')
  assert.equal(await problemAt('http://127.0.0.1:1/'), 'unreachable')
  await using camera = await openOnvifCamera({ profiles })
  const addressGuard = createAddressGuard({ allowLoopback: false })
  assert.equal(await problemAt(camera.url, { addressGuard }), 'address_refused')
  assert.deepEqual(camera.operations, [])
})

test('the partial result of a camera that stops responding is returned in time', async () => {
  await using camera = await openOnvifCamera({
    profiles,
    answer: (operation) => (operation === 'GetStreamUri' ? 'silence' : undefined),
  })
  const found = await read(camera.url, { totalMs: 1500 })
  assert.deepEqual([found.device, found.problem?.code, found.profiles.length], [device, 'timed_out', 2])
  assert.ok(found.profiles.every(({ url, urlProblem }) => url === undefined && urlProblem !== undefined))
})

test('a stream URL whose name cannot be resolved does not delay the result', async () => {
  const slow = (i: number) => ({ ...profiles[1]!, token: `p${i}`, url: `rtsp://slow-${i}.example/` })
  await using camera = await openOnvifCamera({ profiles: [0, 1, 2].map(slow) })
  const guard = createAddressGuard({ allowLoopback: true })
  const addressGuard: AddressGuard = {
    resolve: (host, port) => (host.endsWith('.example') ? new Promise(() => {}) : guard.resolve(host, port)),
  }
  const patient = await read(camera.url, { addressGuard, responseMs: 300 })
  assert.deepEqual(patient.problem, undefined)
  for (const { urlProblem } of patient.profiles) assert.match(urlProblem!, /slow-\d.example was not resolved in time/)
  const late = await read(camera.url, { addressGuard, totalMs: 1000 })
  assert.deepEqual([late.problem?.code, late.profiles.length], ['timed_out', 3])
})

test('an aborted signal ends the reading', async () => {
  const asked = new AbortController()
  await using camera = await openOnvifCamera({
    profiles,
    answer: (operation) => {
      if (operation !== 'GetProfiles') return undefined
      asked.abort(new Error('aborted'))
      return 'silence'
    },
  })
  await assert.rejects(read(camera.url, { signal: asked.signal }), /aborted/)
})

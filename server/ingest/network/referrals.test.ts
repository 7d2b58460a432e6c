// An allowed camera refers to a forbidden IP address in every place where a URL or an address can stand. The server
// never connects there.

import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer as createHttpServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, createServer } from 'node:net'
import { test } from 'node:test'
import { type OnvifCameraOptions, openOnvifCamera } from '../../../test/onvif/onvif-camera.ts'
import {
  openScriptedCamera,
  type ScriptedAnswer,
  type Sender,
  videoSdp,
} from '../../../test/support/ingest/scripted-camera.ts'
import { hastyClock, watchCamera } from '../../../test/support/ingest/watch-camera.ts'
import { systemClock } from '../../base/clock.ts'
import { silentLogger } from '../../base/log.ts'
import { readOnvifDevice } from '../onvif/read-device.ts'
import { createAddressGuard } from './address-guard.ts'

const elsewhere = '127.0.0.2'

/** Counts the connections and datagrams that it receives: each of them has followed a reference. */
async function openCanary() {
  let visits = 0
  const server = createServer((socket) => {
    visits++
    socket.destroy()
  })
  server.listen(0, elsewhere)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const datagrams = createSocket('udp4').on('message', () => visits++)
  datagrams.bind(port, elsewhere)
  await once(datagrams, 'listening')
  return {
    port,
    visits: () => visits,
    async [Symbol.asyncDispose]() {
      datagrams.close()
      server.close()
      await once(server, 'close')
    },
  }
}

type Canary = Awaited<ReturnType<typeof openCanary>>

test('T34: the canary notices connections and datagrams', async () => {
  await using canary = await openCanary()
  const socket = connect(canary.port, elsewhere)
  await once(
    socket.on('error', () => {}),
    'close',
  )
  assert.equal(canary.visits(), 1)
})

const ok = (...headers: [string, string][]): ScriptedAnswer => ({ headers })
const sends = (sender: Sender) => {
  for (let i = 0; i < 4; i++) sender.sendFrame(i * 3600, i === 0)
}
const rtspStories: Record<string, (at: string, port: number) => Parameters<typeof openScriptedCamera>[0]> = {
  'a response 301, 302, 305 or 307 with a Location': (at) => ({
    answer: ({ method }, count) =>
      method === 'DESCRIBE' ? { status: [301, 302, 305, 307][count % 4]!, headers: [['Location', at]] } : undefined,
  }),
  'a redirect of OPTIONS and of PLAY': (at) => ({
    answer: ({ method }) => (/OPTIONS|PLAY/.test(method) ? { status: 302, headers: [['Location', at]] } : undefined),
  }),
  'the method REDIRECT': (at) => ({
    play: (sender) => sender.write(`REDIRECT ${at} RTSP/1.0\r\nCSeq: 9\r\nLocation: ${at}\r\n\r\n`),
  }),
  'Content-Base, Content-Location and control attributes': (at, port) => ({
    sdp: videoSdp
      .replace('s=test', `o=- 1 1 IN IP4 ${elsewhere}\ns=test\nu=${at}\nc=IN IP4 ${elsewhere}\na=control:${at}`)
      .replace('track1', `${at}/track1`)
      .replace('video 0', `video ${port}`),
    answer: ({ method }) =>
      method === 'DESCRIBE'
        ? {
            ...ok(['Content-Base', at], ['Content-Location', at]),
            body: videoSdp.replace('track1', `${at}/track1`).replace('s=test', `c=IN IP4 ${elsewhere}`),
          }
        : undefined,
    play: sends,
  }),
  'RTP-Info': (at) => ({
    answer: ({ method }) => (method === 'PLAY' ? ok(['RTP-Info', `url=${at}/track1;seq=65530;rtptime=0`]) : undefined),
    play: sends,
  }),
  'source and destination of interleaved transport': (_, port) => ({
    answer: ({ method }) =>
      method === 'SETUP'
        ? ok(
            [
              'Transport',
              `RTP/AVP/TCP;interleaved=0-1;source=${elsewhere};destination=${elsewhere};server_port=${port}`,
            ],
            ['Session', '1'],
          )
        : undefined,
    play: sends,
  }),
  'source and destination of UDP transport': (_, port) => ({
    udp: 'only',
    answer: ({ method, headers }) => {
      const wanted = headers.find(([name]) => name === 'Transport')?.[1] ?? ''
      if (method !== 'SETUP' || wanted.includes('TCP')) return undefined
      const answer = `${wanted};source=${elsewhere};destination=${elsewhere};server_port=${port}-${port}`
      return ok(['Transport', answer], ['Session', '1'])
    },
    play: sends,
  }),
}

const isSettled = (items: { kind: string }[], statuses: { state: string }[]) =>
  items.some(({ kind }) => kind === 'video') || statuses.at(-1)?.state === 'offline'

for (const [what, write] of Object.entries(rtspStories)) {
  test(`T34: references of an RTSP camera are not followed: ${what}`, async () => {
    await using canary = await openCanary()
    await using camera = await openScriptedCamera(write(`rtsp://${elsewhere}:${canary.port}`, canary.port))
    const { last } = await watchCamera({ url: camera.url, username: 'u', password: 'p' }, isSettled)
    assert.ok(camera.requests.length > 0)
    assert.ok(last?.state === 'online' || (last?.state === 'offline' && !last.detail.includes(elsewhere)))
    assert.equal(canary.visits(), 0)
  })
}

const playlist = (at: string) => `#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n${at}/1.ts\n#EXT-X-ENDLIST\n`
const httpStories: Record<string, (response: ServerResponse, at: string) => void> = {
  redirects: (response, at) => response.writeHead(302, { location: at }).end(),
  'a permanent redirect to another scheme': (response, at) =>
    response.writeHead(308, { location: at.replace('http', 'rtsp') }).end(),
  'use of a proxy': (response, at) => response.writeHead(305, { location: at }).end(),
  'a playlist': (response, at) =>
    response.writeHead(200, { 'content-type': 'application/vnd.apple.mpegurl' }).end(playlist(at)),
  'a playlist with the content type of an image': (response, at) =>
    response.writeHead(200, { 'content-type': 'image/jpeg' }).end(playlist(at)),
  'a playlist in a multipart body': (response, at) =>
    response
      .writeHead(200, { 'content-type': 'multipart/x-mixed-replace; boundary=x' })
      .end(`--x\r\nContent-Type: image/jpeg\r\nLocation: ${at}\r\n\r\n${playlist(at)}\r\n--x--`),
  'Refresh, Link and Alt-Svc': (response, at) =>
    response
      .writeHead(200, {
        'content-type': 'text/html',
        refresh: `0; url=${at}`,
        link: `<${at}>`,
        'alt-svc': `h2="${at}"`,
      })
      .end(`<meta http-equiv=refresh content="0;url=${at}">`),
  'an upgrade': (response, at) => response.writeHead(426, { upgrade: 'h2c', location: at }).end(),
}

for (const [what, answer] of Object.entries(httpStories)) {
  test(`T34: references of an HTTP camera are not followed: ${what}`, async () => {
    await using canary = await openCanary()
    let requests = 0
    const server = createHttpServer((_, response) => {
      requests++
      answer(response, `http://${elsewhere}:${canary.port}`)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const { last } = await watchCamera({ url: `http://127.0.0.1:${port}/` }, isSettled, { clock: hastyClock })
    server.closeAllConnections()
    server.close()
    assert.ok(requests > 0)
    assert.ok(last?.state === 'offline' && !last.detail.includes(elsewhere))
    assert.equal(canary.visits(), 0)
  })
}

test('T34: if a name resolves differently the next time, each connection goes to the IP address that was checked for it', async () => {
  await using canary = await openCanary()
  const lookups = await countLookups(canary)
  assert.ok(lookups.length >= 2)
  assert.ok(lookups.every((host) => host === 'camera.invalid'))
  assert.equal(canary.visits(), 0)
})

/** The name resolves alternately to the camera and to the server itself, which is refused. */
async function countLookups(canary: Canary): Promise<string[]> {
  const lookups: string[] = []
  const enough = new AbortController()
  const lookupAll = async (host: string) => {
    lookups.push(host)
    if (lookups.length >= 4) enough.abort()
    return [{ address: lookups.length % 2 === 1 ? '203.0.113.254' : elsewhere, family: 4 }]
  }
  const addressGuard = createAddressGuard({ allowLoopback: false, lookupAll, listOwnAddresses: () => [] })
  const url = `rtsp://camera.invalid:${canary.port}/`
  await watchCamera({ url }, () => false, { clock: hastyClock, addressGuard, signal: enough.signal })
  return lookups
}

const profile = { token: 'main', name: 'Main', encoding: 'H264', width: 640, height: 360 }
const onvifStories: Record<string, (at: string) => Partial<OnvifCameraOptions>> = {
  'services and streams elsewhere': (at) => ({ reportedHost: at }),
  'services of older cameras elsewhere': (at) => ({ reportedHost: at, lacks: ['services', 'media2'] }),
  'a document type': (at) => ({
    answer: () => ({ body: `<!DOCTYPE x [<!ENTITY e SYSTEM "http://${at}/e">]><Envelope><Body>&e;</Body></Envelope>` }),
  }),
  'an include and a style sheet': (at) => ({
    answer: () => ({
      body: `<?xml-stylesheet href="http://${at}/s"?><Envelope xmlns:xi="http://www.w3.org/2001/XInclude"><Body><xi:include href="http://${at}/i"/></Body></Envelope>`,
    }),
  }),
}

for (const [what, write] of Object.entries(onvifStories)) {
  test(`T34: references of an ONVIF camera are not followed: ${what}`, async () => {
    await using canary = await openCanary()
    const at = `${elsewhere}:${canary.port}`
    await using camera = await openOnvifCamera({ profiles: [{ ...profile, url: `rtsp://${at}/live` }], ...write(at) })
    const target = { url: camera.url, username: 'u', password: 'p', canSeeProblems: true }
    const addressGuard = createAddressGuard({ allowLoopback: true })
    const signal = AbortSignal.timeout(20_000)
    await readOnvifDevice({ target, clock: systemClock, log: silentLogger, addressGuard, signal })
    assert.ok(camera.operations.length > 0)
    assert.equal(canary.visits(), 0)
  })
}

test('T34: an ONVIF redirect is not followed, and a forbidden stream URL is not returned', async () => {
  await using canary = await openCanary()
  const at = `http://${elsewhere}:${canary.port}/`
  const server = createHttpServer((_, response) => void response.writeHead(307, { location: at }).end())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const read = (url: string, addressGuard = createAddressGuard({ allowLoopback: true })) => {
    const target = { url, username: undefined, password: undefined, canSeeProblems: true }
    const signal = AbortSignal.timeout(20_000)
    return readOnvifDevice({ target, clock: systemClock, log: silentLogger, addressGuard, signal })
  }
  assert.equal((await read(`http://127.0.0.1:${port}/`)).problem?.code, 'redirected')
  server.closeAllConnections()
  server.close()

  await using camera = await openOnvifCamera({ profiles: [{ ...profile, url: 'rtsp://169.254.169.254/live' }] })
  const [found] = (await read(camera.url)).profiles
  assert.equal(found?.url, undefined)
  assert.match(found?.urlProblem ?? '', /not allowed/)
  const strict = await read(camera.url, createAddressGuard({ allowLoopback: false }))
  assert.equal(strict.problem?.code, 'address_refused')
  assert.equal(canary.visits(), 0)
})

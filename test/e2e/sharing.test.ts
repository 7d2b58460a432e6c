// A camera shared with a person without an account: from the invitation to the video, and to its end.

import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Account } from '../../contract/account.ts'
import type { User } from '../../contract/user.ts'
import { emailKey } from '../../server/model/email.ts'
import { type FakeCamera, openFakeCamera } from '../fake-camera/fake-camera.ts'
import { eventually, openServerHere, type ServerUnderTest } from '../server-under-test.ts'
import { openSmtpServer, type TestSmtpServer } from '../smtp-server.ts'
import { readForms } from '../support/api/temporary-pages.ts'
import { probe } from './media-probe.ts'

type Stream = { format: string; url: string }
type SharedCamera = { id: number; has_recording: boolean; streams: Stream[]; live_snapshot: string }
type Page<T> = { count: number; results: T[] }
type Guest = { id: number; first_name: string | null; permissions: { can_view_rec: boolean } }

const email = 'Bea@Bücher.example'
let smtp: TestSmtpServer
let source: FakeCamera
let server: ServerUnderTest
let cameraId: number

before(async () => {
  smtp = await openSmtpServer()
  // A high bit rate, so that a recorded file exceeds the buffers of a connection.
  const video = { width: 1280, height: 720, gopFrames: 25, bitsPerSecond: 16_000_000, loopSeconds: 4 }
  source = await openFakeCamera({ streams: [{ name: 'door', ...video }] })
  server = await openServerHere('--smtp-url', smtp.url, '--mail-from', 'nightjar@example.org')
  const camera = ['--name', 'Front "door"', '--url', source.url('door'), '--record', 'P7D']
  cameraId = (await server.command<{ id: number }>('camera', 'add', '--user', 'owner@example.com', ...camera)).id
})

after(async () => {
  await server[Symbol.asyncDispose]()
  await source[Symbol.asyncDispose]()
  await smtp[Symbol.asyncDispose]()
})

const sharedPath = () => `/v1/shared-cameras/${cameraId}/`
const guestsPath = () => `/v1/cameras/${cameraId}/guests/`

test('an invitation arrives, creates an account, shows the camera, and ends', async () => {
  const made = await server.request<Guest>(guestsPath(), {
    method: 'POST',
    body: { email, permissions: { can_view_rec: true } },
  })
  assert.equal(made.status, 201, made.text)
  const guest = made.json

  const mail = await eventually('the invitation', 20_000, async () => smtp.mails[0])
  assert.equal(mail.from, 'nightjar@example.org')
  // The mail server shows internationalized domains; in transit they are in ASCII form.
  assert.deepEqual(mail.to.map(emailKey), [emailKey(email)])
  assert.match(mail.raw, /^To: Bea@xn--bcher-kva\.example\r$/m)
  assert.match(mail.raw, /^Subject: A camera was shared with you on Nightjar\r$/m)
  assert.match(mail.text, /^owner@example\.com shared the camera “Front ’door’” with you/)
  const link = new URL(/https:\S+/.exec(mail.text)![0])
  assert.equal(link.origin, server.url)

  const landed = await acceptInvitation(link)
  assert.ok(['/account/?done=shared', `/shared/${cameraId}`].includes(landed), landed)
  const again = await server.request(link.href, { authorization: null })
  assert.deepEqual([again.status, /is not valid/.test(again.text)], [404, true])

  const { token } = await server.command<{ token: string }>('token', 'create', '--user', email)
  const bea = { authorization: `PersonalAccessToken ${token}` }
  const asGuest = <T>(path: string) => server.request<T>(path, bea)
  const list = (await asGuest<Page<SharedCamera>>('/v1/shared-cameras/')).json
  assert.deepEqual([list.count, list.results[0]?.id], [1, cameraId])
  assert.equal((await asGuest('/v1/cameras/1/')).status, 404)

  // Somebody who was invited to a camera watches, and does not reach into the network of the server.
  const me = async () => (await asGuest<User>('/v1/me/')).json
  assert.equal((await me()).available_features.connect_camera, false)
  const post = async (path: string, body?: object) =>
    (await server.request(path, { method: 'POST', body, ...bea })).status
  const url = source.url('door')
  for (const path of ['', 'stream-detection/', 'onvif-profiles/', 'onvif-discovery/'])
    assert.equal(await post(`/v1/cameras/${path}`, { name: 'Own', url }), 403, path)
  const { id } = await me()
  const allow = (may: boolean) =>
    server.request<Account>(`/v1/users/${id}/`, { method: 'PUT', body: { may_add_cameras: may } })
  assert.equal((await allow(true)).json.may_add_cameras, true)
  assert.equal((await me()).available_features.connect_camera, true)
  assert.equal(await post('/v1/cameras/stream-detection/', { url: 'rtsp://169.254.169.254/' }), 200)
  assert.equal((await allow(false)).status, 200)
  assert.equal(await post('/v1/cameras/', { name: 'Own', url }), 403)
  const nameOf = async () => (await server.request<Guest>(`${guestsPath()}${guest.id}/`)).json.first_name
  assert.equal(await nameOf(), null)
  const camera = (await asGuest<SharedCamera>(sharedPath())).json
  assert.equal(await nameOf(), 'Bea')

  const urlOf = (format: string) => camera.streams.find((stream) => stream.format === format)!.url
  const live = await probe(urlOf('mpegts'), { seconds: 2 })
  assert.deepEqual([live.video?.codec, live.video?.width], ['h264', 1280])
  const startMs = Date.now() - 60_000
  await eventually('15 s of footage', 60_000, async () => {
    const { recording_start: start, recording_end: end } = (
      await asGuest<{ recording_start: string | null; recording_end: string | null }>(`${sharedPath()}recording/`)
    ).json
    return start !== null && Date.parse(end!) - Date.parse(start) > 15_000
  })
  const opened = await asGuest<{ url: string; stream_info: string }>(
    `${sharedPath()}recording/stream/?start=${new Date(startMs).toISOString()}`,
  )
  assert.equal(opened.status, 200, opened.text)
  const recorded = await probe(opened.json.url, { seconds: 5 })
  assert.deepEqual([recorded.video?.codec, recorded.video?.width], ['h264', 1280])
  const playlist = (await server.request(opened.json.url, { authorization: null })).text
  const fileUrl = new URL(/^\d+\.mp4$/m.exec(playlist)![0], opened.json.url).href

  // Without the permission for recordings, recorded streams end and live streams continue.
  const setRight = (canView: boolean) =>
    server.request(`${guestsPath()}${guest.id}/`, { method: 'PUT', body: { permissions: { can_view_rec: canView } } })
  const liveStream = await watch(urlOf('mp4'))
  const first = await watch(fileUrl, { isSlow: true })
  await setRight(false)
  for (const url of [opened.json.url, fileUrl, opened.json.stream_info]) {
    assert.equal((await asGuest(url)).status, 404, url)
  }
  assert.equal((await asGuest(`${sharedPath()}recording/`)).status, 404)
  await first.isCutOff()
  assert.equal(liveStream.message.closed, false)
  await setRight(true)

  const second = await watch(fileUrl, { isSlow: true })
  assert.equal((await server.request(`${guestsPath()}${guest.id}/`, { method: 'DELETE' })).status, 204)
  assert.equal((await asGuest<Page<SharedCamera>>('/v1/shared-cameras/')).json.count, 0)
  assert.equal((await asGuest(sharedPath())).status, 404)
  for (const { url } of camera.streams) assert.equal((await asGuest(url)).status, 403, url)
  assert.equal((await asGuest(camera.live_snapshot)).status, 403)
  assert.equal((await asGuest(opened.json.url)).status, 404)
  await Promise.all([liveStream.isCutOff(), second.isCutOff()])
})

/** Submits the page as a browser does and returns the redirect target. */
async function acceptInvitation(link: URL): Promise<string> {
  const shown = await server.request(link.href, { authorization: null })
  assert.equal(shown.status, 200)
  assert.match(shown.text, /owner@example\.com shared the camera “Front ’door’” with you/)
  const [form] = readForms(shown.text)
  const cookie = String(shown.headers['set-cookie']).split(';')[0]!
  const answer = await server.request(form!.action, {
    method: 'POST',
    authorization: null,
    form: { ...form!.fields, first_name: 'Bea', last_name: 'Lund', password: 'hairy otters sing' },
    headers: { cookie, origin: server.url, 'sec-fetch-site': 'same-origin' },
  })
  assert.equal(answer.status, 303, answer.text)
  return String(answer.headers.location)
}

type Watched = { readonly message: IncomingMessage; isCutOff(): Promise<void> }

/** An open stream. `isSlow`: hardly anything is read, so that it cannot reach its end. */
async function watch(url: string, { isSlow = false } = {}): Promise<Watched> {
  const message = await new Promise<IncomingMessage>((resolve, reject) => {
    httpsRequest(url, { ca: server.ca, agent: false }, resolve).on('error', reject).end()
  })
  assert.equal(message.statusCode, 200)
  let bytes = 0
  let isHeld = isSlow
  let isWhole = false
  message.on('error', () => {}) // cut off in the middle
  message.on('end', () => {
    isWhole = message.complete
  })
  message.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (isHeld && bytes > 100_000) message.pause()
  })
  await eventually('the first bytes', 10_000, async () => bytes > 0)
  const length = Number(message.headers['content-length'] ?? 0)
  return {
    message,
    async isCutOff() {
      // Buffered data still arrives. The server must end the stream, which an idle client does not notice.
      if (isSlow) await delay(5000)
      isHeld = false
      message.resume()
      await eventually(`${url} is closed`, 5000, async () => message.closed)
      if (isSlow) assert.ok(!isWhole && bytes < length, `${bytes} of ${length} bytes came`)
    },
  }
}

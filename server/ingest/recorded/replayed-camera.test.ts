// A session that was recorded and is replayed gives the frames of the camera, and contains none of its credentials.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { openScriptedCamera, type Script, type Sender } from '../../../test/support/ingest/scripted-camera.ts'
import { isLost, timesOf, watchCamera } from '../../../test/support/ingest/watch-camera.ts'
import { AppError } from '../../base/error.ts'
import { findHeader } from '../../media/rtsp/message.ts'
import { openReplayedCamera } from './replayed-camera.ts'
import { parseSession, SessionRecorder, type SessionSecrets, writeSession } from './session-file.ts'

const account = { username: 'gatekeeper', password: 'sé same+1' }

/** Records the camera until `isDone`, and returns what was recorded as a file, and the frames. */
async function record(secrets: SessionSecrets, frames: number) {
  const recorder = new SessionRecorder(() => performance.now(), 10_000_000)
  const { url, username, password } = secrets
  const { items, stats } = await watchCamera(
    { url, ...(username !== null && { username, password: password! }) },
    (items) => timesOf(items, 'video').length >= frames,
    { tap: (event) => recorder.take(event) },
  )
  const text = writeSession({ ...recorder.finish(secrets), recordedAt: '2030-01-01', version: '1' })
  return { text, times: timesOf(items, 'video').slice(0, frames), stats }
}

async function replay(text: string, frames: number, login: Partial<typeof account> = {}) {
  await using camera = await openReplayedCamera(parseSession(text))
  const { items, last } = await watchCamera(
    { url: camera.url, ...login },
    (items, statuses) => timesOf(items, 'video').length >= frames || statuses.at(-1)?.state === 'offline',
  )
  return { times: timesOf(items, 'video').slice(0, frames), last }
}

const sendAll = (sender: Sender) => {
  let sent = 0
  const timer = setInterval(() => {
    if (sent === 30) clearInterval(timer)
    else sender.sendFrame(1_000_000 + sent * 3600, sent++ % 5 === 0)
  }, 10)
  sender.socket.on('close', () => clearInterval(timer))
}

const scripts: Readonly<Record<string, Script>> = {
  'by TCP': {},
  'by UDP only': { udp: 'only' },
}

for (const [how, script] of Object.entries(scripts)) {
  test(`a session ${how} is replayed with every frame and without credentials`, async () => {
    const secret = 'hunter2/3'
    await using camera = await openScriptedCamera({
      ...script,
      play: sendAll,
      answer: ({ method, headers, url }) => {
        const isIn = findHeader(headers, 'Authorization') !== undefined
        if (method !== 'OPTIONS' && !isIn) {
          const challenge = 'Digest realm="x", nonce="0123456789"'
          return { status: 401, headers: [['WWW-Authenticate', challenge]] }
        }
        if (method !== 'DESCRIBE') return undefined
        // It repeats what it should not.
        const base = url.replace('//', `//${account.username}:p@`)
        return {
          headers: [
            ['Content-Base', url],
            ['X-User', account.username],
            ['X-Base', base],
          ],
          body: sdp,
        }
      },
    })
    const url = `${camera.url}?user=${account.username}&password=${encodeURIComponent(secret)}`
    const { text, times, stats } = await record({ url, ...account }, 20)
    assert.equal(stats.droppedFrames, 0)
    for (const hidden of [account.username, account.password, 'hunter2', 'response="', ':p@', btoa('gatekeeper')]) {
      assert.ok(!text.includes(hidden), hidden)
    }
    assert.match(text, /Authorization: Digest x+\\r\\n/)
    assert.match(text, /password=x{11} RTSP/)
    assert.match(text, /"url":"[^"]*&password=x{11}"/)
    const replayed = await replay(text, 20, { username: 'any', password: 'thing' })
    assert.deepEqual(replayed.times, times, JSON.stringify(replayed.last))
    const { last } = await replay(text, 20)
    assert.ok(last?.state === 'offline' && last.reason === 'auth_failed', 'it asks for a login like the camera')
  })
}

const sdp = `v=0
s=test
m=video 0 RTP/AVP 96
a=rtpmap:96 H264/90000
a=fmtp:96 packetization-mode=1
a=control:track1
`

test('an HTTP session is replayed, and ends with the recording', async () => {
  const jpeg = (tag: number) => {
    const head = [0xff, 0xd8, 0xff, 0xc0, 0, 11, 8, 0, 48, 0, 64, 1, 1, 0x11, 0, 0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0]
    return Buffer.from([...head, ...Array.from({ length: 300 }, () => tag), 0xff, 0xd9])
  }
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'multipart/x-mixed-replace; boundary=b' })
    let tag = 0
    const timer = setInterval(() => {
      response.write(`--b\r\nContent-Type: image/jpeg\r\n\r\n`)
      response.write(Buffer.concat([jpeg(tag++ & 0x7f), Buffer.from('\r\n')]))
    }, 10)
    response.on('close', () => clearInterval(timer))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mjpg`
  const { text } = await record({ url, username: null, password: null }, 10)
  server.closeAllConnections()
  server.close()
  await using camera = await openReplayedCamera(parseSession(text))
  const { items, causes } = await watchCamera({ url: camera.url }, isLost)
  assert.ok(timesOf(items, 'video').length >= 9)
  assert.match(causes[0]!, /closed the connection/)
})

test('a camera that answers nothing is replayed as one', async () => {
  await using camera = await openScriptedCamera({ answer: () => false })
  const limits = { responseMs: 300 }
  const recorder = new SessionRecorder(() => performance.now(), 1000)
  const isLate = (_: unknown, statuses: { state: string }[]) => statuses.at(-1)?.state === 'offline'
  await watchCamera({ url: camera.url }, isLate, { limits, tap: (event) => recorder.take(event) })
  const { events } = recorder.finish({ url: camera.url, username: null, password: null })
  assert.deepEqual(
    events.slice(0, 3).map(({ kind }) => kind),
    ['connect', 'sent', 'left'],
  )
  await using replayed = await openReplayedCamera({ url: camera.url, recordedAt: '', version: '', events })
  const { last } = await watchCamera({ url: replayed.url }, isLate, { limits })
  assert.ok(last?.state === 'offline')
  assert.match(last.detail, /did not answer OPTIONS/)
})

test('what is not a recorded session is refused with the line', () => {
  const head = '{"format":"nightjar-camera-session","version":1,"url":"rtsp://cam/1"}'
  const isInvalid = (detail: RegExp) => (error: unknown) =>
    error instanceof AppError && error.kind === 'invalid' && detail.test(error.message)
  for (const text of ['', '{}', '[]', 'null', 'MZ\0']) {
    assert.throws(() => parseSession(text), isInvalid(/not a recorded camera session/), text)
  }
  assert.throws(() => parseSession(head.replace('1,', '2,')), isInvalid(/later version/))
  assert.throws(() => parseSession(head.replace('rtsp://cam/1', 'cam')), isInvalid(/Line 1 /))
  const lines = ['x', '7', '{"at":-1,"event":"end"}', '{"at":1,"event":"sent"}', '{"at":1,"event":"rtp","text":"a"}']
  for (const line of [...lines, '{"at":1,"event":"other","text":"a"}']) {
    assert.throws(() => parseSession(`${head}\n{"at":0,"event":"connect"}\n${line}\n`), isInvalid(/Line 3 /), line)
  }
  assert.equal(parseSession(`${head}\n`).events.length, 0)
})

// An internal error that the stream of a camera causes ends the session of that camera, whatever transports the stream.
// Uncaught, it would end the worker with all its cameras, and here the process of this test.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openScriptedCamera, type Sender } from '../../../test/support/ingest/scripted-camera.ts'
import { openHttpCamera } from '../../../test/support/ingest/scripted-http-camera.ts'
import { hastyClock, isOffline, watchCamera } from '../../../test/support/ingest/watch-camera.ts'
import { syntheticFormat, syntheticFrames } from '../../../test/support/media/synthetic-frames.ts'
import type { HubItem } from '../../hub/hub-item.ts'
import type { ContainerReader } from '../../media/container/container-stream.ts'

const jpeg = Uint8Array.of(
  ...[0xff, 0xd8, 0xff, 0xc0, 0, 11, 8, 0, 16, 0, 16, 1, 1, 0x11, 0],
  ...[0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0, 0x55, 0xff, 0xd9],
)

/** Throws at the `count`-th item of a run. */
function failAt(count: number): (item: HubItem) => void {
  let items = 0
  return (item) => {
    if (item.kind === 'end') return
    if (++items % count === 0) throw new TypeError('a bug')
  }
}

const play = (sender: Sender) => {
  for (let i = 0; i < 6; i++) sender.sendFrame(i * 3600, i % 3 === 0)
}

const video = syntheticFormat({}).video
const containers: ContainerReader = {
  open: (_, sink) => ({
    push() {
      sink.onTracks({ video: { codec: 'h264', config: video.config }, audio: undefined })
      for (const { kind, pts90k, data } of syntheticFrames({})) {
        if (pts90k > 90_000) break
        if (kind === 'video') sink.onPacket({ kind, pts90k, data })
      }
      return true
    },
    end() {},
    async [Symbol.asyncDispose]() {},
  }),
}

const part = (bytes: Uint8Array) => [
  `--b\r\nContent-Type: image/jpeg\r\nContent-Length: ${bytes.length}\r\n\r\n`,
  bytes,
  '\r\n',
]

const cameras = {
  'RTP over TCP': () => openScriptedCamera({ play }),
  'RTP over UDP': () => openScriptedCamera({ play, udp: 'only' }),
  'MJPEG over HTTP': () =>
    openHttpCamera((response) => {
      response.writeHead(200, { 'Content-Type': 'multipart/x-mixed-replace; boundary=b' })
      for (const bytes of [...part(jpeg), ...part(jpeg), '--b\r\n']) response.write(bytes)
    }),
  'a container over HTTP': () =>
    openHttpCamera((response) => void response.writeHead(200).write(Buffer.from('1a45dfa39f428681', 'hex'))),
}

for (const [carrier, open] of Object.entries(cameras)) {
  test(`an error in the code that handles ${carrier} ends that session and nothing else`, async () => {
    await using camera = await open()
    const { statuses, causes } = await watchCamera({ url: camera.url }, isOffline, {
      ...{ publish: failAt(2), clock: hastyClock, containers },
    })
    // By the hasty clock, it may be online again before this test ends it.
    assert.ok(
      statuses.some(({ state }) => state === 'offline'),
      statuses.map(({ state }) => state).join(),
    )
    assert.ok(
      causes.some((cause) => cause.includes('a bug')),
      causes.join('\n'),
    )
  })
}

test('an error in the handling of an RTCP datagram ends that session and nothing else', async () => {
  await using camera = await openScriptedCamera({
    udp: 'only',
    play(sender) {
      play(sender)
      // The reports claim arbitrary lengths and types.
      for (let type = 0; type < 256; type++) sender.send(0, Uint8Array.of(0x9f, type, 0xff, 0xff, 1), true)
    },
  })
  const { last } = await watchCamera({ url: camera.url }, (_, statuses) => statuses.at(-1)?.state === 'online')
  assert.equal(last?.state, 'online')
})

test('an image whose handling fails is requested again', async () => {
  await using camera = await openHttpCamera((response) => {
    response.writeHead(200, { 'Content-Type': 'image/jpeg' }).end(jpeg)
  })
  const { last } = await watchCamera({ url: camera.url }, isOffline, { publish: failAt(2), clock: hastyClock })
  assert.ok(last?.state === 'offline')
})

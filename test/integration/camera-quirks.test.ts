// Every camera of test/fixtures/cameras, through the whole server: what it sends is recorded, and FFmpeg reads the file
// that is downloaded.

import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { after, before, suite, test } from 'node:test'
import type { Timeline } from '../../contract/recording.ts'
import { probe } from '../e2e/media-probe.ts'
import { packetQuirks } from '../fixtures/cameras/packet-quirks.ts'
import { protocolQuirks } from '../fixtures/cameras/protocol-quirks.ts'
import { sent } from '../fixtures/cameras/quirk.ts'
import { sessionQuirks } from '../fixtures/cameras/session-quirks.ts'
import { eventually, openServerHere, type ServerUnderTest } from '../server-under-test.ts'
import { openScriptedCamera, type Sender } from '../support/ingest/scripted-camera.ts'

// The scripts of the others play by a clock that runs ahead.
const quirks = [...sessionQuirks, ...packetQuirks, ...protocolQuirks].filter(({ haste }) => !haste)

/** The last frame of a connection ends with the packet that would follow. */
const whole = sent - 1

/** The slices and blocks are no pictures and no audio, so only what is said of the file counts. */
const ofDecoders =
  /^(\[(h264|aac) @ .*|.*Could not find codec parameters.*|Consider increasing.*| +Last message repeated.*)\n?/gm

let server: ServerUnderTest

before(async () => {
  server = await openServerHere()
})

after(async () => {
  await server[Symbol.asyncDispose]()
})

suite('cameras', { concurrency: 8 }, () => {
  for (const { camera, symptom, script: given, account } of quirks) {
    test(`${camera}: ${symptom}`, async () => {
      const script = typeof given === 'function' ? given() : given
      // The last second is written when the connection ends, which must not overtake datagrams.
      const end = ({ socket }: Sender) => setTimeout(() => socket.end(), script.udp ? 2000 : 0)
      let hasPlayed = false
      const play = (sender: Sender) => {
        hasPlayed = true
        script.play?.(sender)
        end(sender)
      }
      // A camera that is back within a second, with a second of pictures, leaves no gap to wait for.
      const greet = (socket: Socket) => (hasPlayed ? socket.destroy() : script.greet?.(socket))
      await using scripted = await openScriptedCamera({ ...script, play, greet })
      const { username = '', password = '' } = account ?? {}
      const url = Object.assign(new URL(scripted.url), { username, password }).href
      const id = await server.addCamera(camera.slice(0, 30), url, '--record', 'P1D')
      const path = `/v1/cameras/${id}/recording`
      const range = `start=${new Date(Date.now() - 60_000).toISOString()}&end=${new Date(Date.now() + 60_000).toISOString()}`
      // There is also a gap before the footage if the camera took long to connect.
      await eventually('a gap after the footage', 60_000, async () => {
        const { json } = await server.request<Timeline>(`${path}/timeline/?${range}`)
        const end = json.segments.at(-1)?.end
        return end !== undefined && json.gaps.some((gap) => gap.start >= end)
      })
      let seen = ''
      const what = () => `every frame is recorded, and not only those at ${seen}`
      const { video, audio, complaints } = await eventually(what, 100_000, async () => {
        const { json } = await server.request<{ url: string }>(`${path}/stream/?${range}`)
        const played = await probe(json.url.replace(/hls\/.*/, 'download.mp4'))
        seen = played.video!.packets.map(({ ptsSeconds }) => ptsSeconds).join()
        return played.video!.packets.length >= whole && played
      })
      assert.equal(complaints.replaceAll(ofDecoders, '').trim(), '')
      assert.ok(video!.packets.length <= sent, `${video!.packets.length} frames`)
      for (const [i, { isKey }] of video!.packets.slice(0, whole).entries()) assert.equal(isKey, i % 5 === 0)
      assert.equal(audio !== undefined, script.sdp?.includes('m=audio') ?? false)
      await server.request(`/v1/cameras/${id}/`, { method: 'DELETE' })
    })
  }
})

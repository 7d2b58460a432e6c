import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { test } from 'node:test'
import { generate } from 'selfsigned'
import {
  audioVideoSdp,
  openScriptedCamera,
  type Sender,
  samplePps,
  sampleSps,
  videoSdp,
} from '../../../test/support/ingest/scripted-camera.ts'
import { hastyClock, isOffline, kindsOf, timesOf, watchCamera } from '../../../test/support/ingest/watch-camera.ts'
import { packetizeH264 } from '../../../test/support/media/h264/packetizer.ts'
import type { HubItem } from '../../hub/hub-item.ts'
import { RtpReorderer } from '../../media/rtp/reorderer.ts'
import { writeRtpPacket } from '../../media/rtp/rtp-header.ts'
import { findHeader } from '../../media/rtsp/message.ts'
import { parseClientPorts } from '../../media/rtsp/transport.ts'
import { parseSdp } from '../../media/sdp/parse-sdp.ts'
import { ArrivalClock } from '../clock/arrival-clock.ts'
import { createCameraStats } from '../frames/camera-stats.ts'
import { CameraStream } from '../frames/camera-stream.ts'
import { planStreams } from '../plan/stream-plan.ts'

/** Sends slowly enough that no buffer of the system overflows. */
function play(sender: Sender, count: number, send = (packet: Uint8Array) => sender.send(0, packet)): void {
  let i = 0
  const timer = setInterval(() => {
    for (const packet of sender.frameBytes(1_000_000 + i * 3600, i % 5 === 0)) send(packet)
    if (++i === count) clearInterval(timer)
  }, 2)
  sender.socket.on('close', () => clearInterval(timer))
}

const bye = Uint8Array.of(0x81, 203, 0, 1, 0, 0, 0, 7)

test('a camera that refuses TCP sends video and audio over UDP and receives reports', async () => {
  await using camera = await openScriptedCamera({
    sdp: audioVideoSdp,
    udp: 'only',
    play: (sender) => {
      play(sender, 30)
      sender.socket.setTimeout(0)
      setTimeout(() => sender.audio(48_000), 20)
    },
  })
  const isDone = (items: HubItem[]) => timesOf(items, 'video').length >= 29 && timesOf(items, 'audio').length >= 2
  const { items, stats, last } = await watchCamera({ url: camera.url }, isDone)
  assert.equal(last?.state, 'online')
  assert.deepEqual(
    timesOf(items, 'video').slice(0, 29),
    Array.from({ length: 29 }, (_, i) => i * 3600),
  )
  assert.deepEqual([stats.lostPackets, stats.droppedFrames, stats.runs], [0, 0, 1])
  assert.ok(stats.receivedBytes > 29 * 3000)
  const setups = camera.requests.filter((request) => request.startsWith('SETUP'))
  assert.equal(setups.length, 3, 'one SETUP over TCP, then one for each track')
  assert.match(camera.requests.at(-1)!, /^TEARDOWN/)
  // An RTP packet (version 2, payload type) and an empty RTCP report for each track open the path through routers.
  const heads = camera.datagrams.map(([first, second]) => `${first} ${second}`)
  assert.deepEqual(heads.toSorted(), ['128 201', '128 201', '128 96', '128 97'])
})

test('packets are reordered, and duplicates are dropped', async () => {
  await using camera = await openScriptedCamera({
    udp: 'only',
    play: (sender) => {
      const held: Uint8Array[] = []
      // There is no order before the first packet.
      let isFirst = true
      play(sender, 40, (packet) => {
        held.push(packet)
        if (held.length < 4) return
        for (const i of isFirst ? [0, 1, 2, 3] : [2, 0, 1, 0, 3]) sender.send(0, held[i]!)
        isFirst = false
        held.length = 0
      })
    },
  })
  const { items, stats } = await watchCamera({ url: camera.url }, (items) => timesOf(items, 'video').length >= 35)
  assert.deepEqual(
    timesOf(items, 'video').slice(0, 35),
    Array.from({ length: 35 }, (_, i) => i * 3600),
  )
  assert.deepEqual([stats.lostPackets, stats.droppedFrames], [0, 0])
  assert.ok(stats.latePackets > 5)
})

test('packets from another IP address are dropped and counted', async () => {
  const stranger = createSocket('udp4')
  await new Promise<void>((resolve) => stranger.bind(0, '127.0.0.2', resolve))
  let port = 0
  await using camera = await openScriptedCamera({
    udp: 'only',
    answer: ({ headers }) => {
      port = parseClientPorts(findHeader(headers, 'Transport') ?? '')?.rtp ?? port
      return undefined
    },
    play: (sender) => {
      play(sender, 40, (packet) => {
        stranger.send(packet, port, '127.0.0.1')
        sender.send(0, packet)
      })
    },
  })
  const { items, stats } = await watchCamera(
    { url: camera.url },
    (items, _, { foreignPackets }) => timesOf(items, 'video').length >= 20 && foreignPackets > 10,
  )
  stranger.close()
  assert.ok(stats.foreignPackets > 10)
  assert.deepEqual([stats.latePackets, stats.droppedFrames], [0, 0])
  assert.equal(kindsOf(items)[0], 'start')
})

test('when no packets arrive over UDP, TCP is tried, and vice versa, and both failures are reported', async () => {
  for (const works of ['tcp', 'udp'] as const) {
    let isFirst = true
    await using camera = await openScriptedCamera({
      udp: 'also',
      answer: ({ method, headers }) => {
        // The transport that works later is refused or silent at first.
        const isTcp = parseClientPorts(findHeader(headers, 'Transport') ?? '') === undefined
        const isRefused = works === 'tcp' && isFirst && method === 'SETUP' && isTcp
        return isRefused ? { status: 461 } : undefined
      },
      play: (sender) => {
        if (!isFirst) play(sender, 50)
        isFirst = false
      },
    })
    const { statuses, items } = await watchCamera(
      { url: camera.url },
      (items) => timesOf(items, 'video').length >= 20,
      { clock: hastyClock },
    )
    const offline = statuses.find(({ state }) => state === 'offline')
    assert.ok(offline?.state === 'offline' && offline.reason === 'no_frames')
    assert.match(
      offline.detail,
      works === 'tcp' ? /over UDP, but no packet arrived within 5 s/ : /sent no frames within 30 s/,
    )
    assert.ok(timesOf(items, 'video').length >= 20, works)
  }
})

test('with TLS nothing is sent unencrypted', async () => {
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'camera' }])
  await using camera = await openScriptedCamera({ tls: { key, cert }, udp: 'only' })
  const { last } = await watchCamera({ url: camera.url }, isOffline)
  assert.ok(last?.state === 'offline' && /461/.test(last.detail))
  assert.equal(camera.requests.filter((request) => request.startsWith('SETUP')).length, 1)
})

test('a stream ends when the camera announces its end and sends nothing afterwards', async () => {
  await using camera = await openScriptedCamera({
    play: (sender) => {
      for (let i = 0; i < 3; i++) sender.sendFrame(1_000_000 + i * 3600, i === 0)
      sender.send(0, bye, true)
    },
  })
  const { last } = await watchCamera({ url: camera.url }, isOffline, { clock: hastyClock })
  assert.ok(last?.state === 'offline' && /ended its stream/.test(last.detail))
})

/** A network that loses, duplicates and swaps packets reproducibly. */
function createNetwork(seed: number) {
  let state = seed
  const random = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
  return (packets: Uint8Array[], loss: number) =>
    packets
      .flatMap((packet, i) => (random() < loss ? [] : [{ packet, at: i + random() * 6 }]))
      .flatMap((each) => (random() < 0.02 ? [each, { ...each, at: each.at + 3 }] : [each]))
      .sort((a, b) => a.at - b.at)
      .map(({ packet }) => packet)
}

test('a lost packet costs at most its group of pictures, and no damaged frame is published', () => {
  for (const loss of [0, 0.001, 0.01]) {
    const time = { ms: 1_700_000_000_000 }
    const items: HubItem[] = []
    const stats = createCameraStats()
    const stream = new CameraStream({
      plan: planStreams(parseSdp(videoSdp)),
      arrivalClock: new ArrivalClock({ nowMs: () => time.ms, monotonicMs: () => time.ms, sleep: async () => {} }),
      stats,
      floorMs: 0,
      createRunId: () => 'run',
      publish: (item) => items.push(item),
      onRun: () => {},
    })
    const reorderer = new RtpReorderer({ onPacket: (packet) => stream.takeVideoPacket(packet, 0, packet.length) })
    let sequence = 60_000
    const group = 25
    const groups = 200
    const sent: Uint8Array[] = []
    for (let i = 0; i < group * groups; i++) {
      const isKey = i % group === 0
      const slice = new Uint8Array(isKey ? 9000 : 2500).fill(i & 0xff)
      slice.set([0x60 | (isKey ? 5 : 1), 0x88, i >> 8, i])
      const payloads = packetizeH264(isKey ? [sampleSps['640x360'], samplePps, slice] : [slice])
      for (const [n, payload] of payloads.entries()) {
        const fields = { payloadType: 96, isMarked: n === payloads.length - 1, sequence: sequence++ & 0xffff }
        sent.push(writeRtpPacket({ ...fields, timestamp: (i * 3600) >>> 0, ssrc: 1 }, payload))
      }
    }
    const arrived = createNetwork(5)(sent, loss)
    const startMs = time.ms
    for (const packet of arrived) {
      const sentMs = startMs + new DataView(packet.buffer).getUint32(4) / 90
      time.ms = Math.max(time.ms, sentMs)
      reorderer.push(packet, time.ms)
    }
    reorderer.expire(time.ms + 1000)
    const lost = sent.length - new Set(arrived).size
    const numbers = items.flatMap((item) => {
      if (item.kind !== 'video') return []
      const number = item.data.at(-1)!
      assert.ok(
        item.data.subarray(8 + 4).every((byte) => byte === number),
        'all bytes belong to one frame',
      )
      return Math.round(item.pts90k / 3600)
    })
    assert.deepEqual(
      numbers,
      numbers.toSorted((a, b) => a - b),
    )
    for (const [i, number] of numbers.entries()) {
      assert.ok(number % group === 0 || numbers[i - 1] === number - 1, 'a key frame follows a hole')
    }
    const whole = numbers.filter((number) => number % group === group - 1).length
    // No packet follows the last frame.
    assert.ok(whole >= groups - lost - 1, `${whole} whole groups, ${lost} packets lost`)
    if (loss > 0) assert.ok(lost > 0)
  }
})

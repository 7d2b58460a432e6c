// Parsers of packets: whole streams of them, so that what one packet left behind meets the next.

import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { HubItem } from '../../../server/hub/hub-item.ts'
import { ArrivalClock } from '../../../server/ingest/clock/arrival-clock.ts'
import { createCameraStats } from '../../../server/ingest/frames/camera-stats.ts'
import { CameraStream } from '../../../server/ingest/frames/camera-stream.ts'
import { planStreams } from '../../../server/ingest/plan/stream-plan.ts'
import { parseAvcConfig } from '../../../server/media/h264/avc-config.ts'
import { listHevcConfigNalUnits } from '../../../server/media/h265/hevc-config.ts'
import { parseJpegHeader } from '../../../server/media/jpeg/jpeg-header.ts'
import { RtpReorderer } from '../../../server/media/rtp/reorderer.ts'
import { readRtcp } from '../../../server/media/rtp/rtcp.ts'
import { createRtpHeader, readRtpHeader, writeRtpPacket } from '../../../server/media/rtp/rtp-header.ts'
import { parseSdp } from '../../../server/media/sdp/parse-sdp.ts'
import { bytesOf, hevcSamples } from '../../fixtures/cameras/hevc-parameter-sets.ts'
import { audioVideoSdp, samplePps, sampleSps } from '../../support/ingest/scripted-camera.ts'
import { packetizeAac } from '../../support/media/aac/packetizer.ts'
import { packetizeH264 } from '../../support/media/h264/packetizer.ts'
import { packetizeH265 } from '../../support/media/h265/packetizer.ts'
import type { FuzzTarget } from '../fuzz-target.ts'
import { few } from '../own-error.ts'

/** Packets in one input: each behind its length in two bytes. */
function joinPackets(packets: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(packets.flatMap((each) => [Uint8Array.of(each.length >> 8, each.length), each])))
}

/** A length that goes too far takes what there is. */
function splitInput(input: Uint8Array): Uint8Array[] {
  const packets: Uint8Array[] = []
  for (let at = 0; at + 2 <= input.length; ) {
    const end = Math.min(input.length, at + 2 + ((input[at]! << 8) | input[at + 1]!))
    packets.push(input.subarray(at + 2, end))
    at = end
  }
  return packets
}

type Sent = {
  readonly payload: Uint8Array
  readonly isMarked: boolean
  readonly timestamp: number
  readonly type?: number
}

function numberPackets(sent: readonly Sent[]): Uint8Array {
  return joinPackets(
    sent.map(({ payload, isMarked, timestamp, type = 96 }, sequence) =>
      writeRtpPacket({ payloadType: type, isMarked, sequence, timestamp, ssrc: type }, payload),
    ),
  )
}

function createPictures(
  packetize: (units: Uint8Array[]) => Uint8Array[],
  sets: Uint8Array[],
  slice: number[][],
): Sent[] {
  return Array.from({ length: 6 }, (_, i) => {
    const body = new Uint8Array(i === 0 ? 3000 : 200).fill(0x55)
    body.set(slice[i % 3 === 0 ? 0 : 1]!)
    const payloads = packetize(i % 3 === 0 ? [...sets, body] : [body])
    return payloads.map((payload, n) => ({ payload, isMarked: n === payloads.length - 1, timestamp: i * 3600 }))
  }).flat()
}

const h264 = createPictures(
  packetizeH264,
  [sampleSps['640x360'], samplePps],
  [
    [0x65, 0x88],
    [0x61, 0x88],
  ],
)
const [hevc] = hevcSamples
const h265 = createPictures(packetizeH265, [hevc!.vps, hevc!.sps, hevc!.pps].map(bytesOf), [
  [0x26, 1, 0x88],
  [0x02, 1, 0x88],
])
const audio: Sent = {
  payload: packetizeAac([Uint8Array.of(1, 2, 3), Uint8Array.of(4)]),
  isMarked: true,
  timestamp: 9,
  type: 97,
}
/** RFC 2435 3.1: offset, type, Q, size; restart interval and tables where they are told. */
const jpeg: Sent[] = [
  { payload: Uint8Array.of(0, 0, 0, 0, 1, 80, 8, 6, 1, 2, 3, 4), isMarked: true, timestamp: 0 },
  {
    payload: Uint8Array.of(0, 0, 0, 0, 65, 255, 8, 6, 0, 4, 0xff, 0xff, 0, 0, 0, 128, ...new Array(128).fill(9), 5),
    isMarked: false,
    timestamp: 3600,
  },
  { payload: Uint8Array.of(0, 0, 0, 1, 65, 255, 8, 6, 0, 4, 0xff, 0xff, 7, 8), isMarked: true, timestamp: 3600 },
]

const describe = (encoding: string, audio = '') => `v=0\nm=video 0 RTP/AVP 96\na=rtpmap:96 ${encoding}/90000\n${audio}`

type StreamKind = {
  readonly name: string
  readonly sdp: string
  readonly packets: readonly Sent[]
  check(item: HubItem): void
}

const kinds: readonly StreamKind[] = [
  {
    name: 'h264',
    sdp: audioVideoSdp,
    packets: [...h264.slice(0, 3), audio, ...h264.slice(3)],
    check(item) {
      if (item.kind === 'start') assert.ok(parseAvcConfig(item.format.video.config).sps.length > 0)
      else if (item.kind === 'video') checkUnits(item.data)
    },
  },
  {
    name: 'h265',
    sdp: describe('H265', 'm=audio 0 RTP/AVP 97\na=rtpmap:97 opus/48000/2\n'),
    packets: [...h265, { ...audio, payload: Uint8Array.of(0xfc, 1, 2) }],
    check(item) {
      if (item.kind === 'start') assert.ok(listHevcConfigNalUnits(item.format.video.config).length > 2)
      else if (item.kind === 'video') checkUnits(item.data)
    },
  },
  {
    name: 'jpeg',
    sdp: describe('JPEG'),
    packets: jpeg,
    check(item) {
      if (item.kind !== 'video') return
      const { width, height } = parseJpegHeader(item.data)
      assert.ok(width > 0 && height > 0)
    },
  },
]

/** Every length leads to the next, the last to the end. */
function checkUnits(data: Uint8Array): void {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  let at = 0
  while (at < data.length) {
    assert.ok(at + 4 <= data.length, 'a length is whole')
    at += 4 + view.getUint32(at)
  }
  assert.equal(at, data.length, 'units fill the picture')
}

function createStreamTarget({ name, sdp, packets, check }: StreamKind): FuzzTarget {
  const payload = fc.uint8Array({ maxLength: 40 })
  const strange = fc.record({
    payload,
    isMarked: fc.boolean(),
    timestamp: fc.nat(20_000),
    type: fc.constantFrom(96, 97),
  })
  const right = fc.constantFrom(...packets)
  return {
    name,
    seeds: () => [numberPackets(packets), numberPackets([...packets, ...packets])],
    generated: fc.array(fc.oneof(right, right, strange), { maxLength: 20 }).map(numberPackets),
    run(input) {
      let nowMs = 1_700_000_000_000
      const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs, sleep: async () => {} }
      const seen = { start: 0, video: 0, audio: 0, end: 0 }
      let last = { video: -1, audio: -1 }
      let wallMs = 0
      let needsKey = true
      const stream = new CameraStream({
        plan: planStreams(parseSdp(sdp)),
        arrivalClock: new ArrivalClock(clock),
        stats: createCameraStats(),
        floorMs: 0,
        createRunId: () => 'run',
        onRun: () => {},
        publish(item) {
          seen[item.kind]++
          check(item)
          if (item.kind === 'start') {
            needsKey = true
            last = { video: -1, audio: -1 }
          } else if (item.kind !== 'end') {
            assert.ok(
              Number.isSafeInteger(item.dts90k) && item.dts90k > last[item.kind],
              `${item.kind} at ${item.dts90k}`,
            )
            last[item.kind] = item.dts90k
            if (item.kind === 'audio') return
            assert.ok(!needsKey || item.isKey, 'a run begins with a key frame')
            needsKey = false
            assert.ok(item.wallMs >= wallMs && Number.isFinite(item.wallMs), 'the wall clock never goes back')
            wallMs = item.wallMs
          }
        },
      })
      for (const packet of splitInput(input)) {
        nowMs += 7
        // Memory that is used again, as the read buffer is.
        const bytes = packet.slice()
        stream.takeVideoPacket(bytes, 0, bytes.length)
        stream.takeAudioPacket(bytes, 0, bytes.length)
        bytes.fill(0xee)
      }
      stream.collectStats()
      stream[Symbol.dispose]()
      return Object.values(seen).map(few).join()
    },
  }
}

const rtpTarget: FuzzTarget = {
  name: 'rtp',
  seeds: () => [
    numberPackets(h264),
    joinPackets([
      Uint8Array.of(
        0xb2,
        96,
        0,
        1,
        0,
        0,
        0,
        1,
        0,
        0,
        0,
        2,
        1,
        1,
        1,
        1,
        2,
        2,
        2,
        2,
        0xbe,
        0xde,
        0,
        1,
        9,
        9,
        9,
        9,
        5,
        6,
        0,
        0,
        3,
      ),
      Uint8Array.from({ length: 28 }, (_, i) => [0x80, 200, 0, 6][i] ?? i),
      Uint8Array.of(0x81, 203, 0, 1, 0, 0, 0, 7),
    ]),
  ],
  run(input) {
    const header = createRtpHeader()
    const released: Uint8Array[] = []
    const reorderer = new RtpReorderer({ onPacket: (packet) => released.push(packet) })
    const packets = splitInput(input)
    let reports = 0
    let read = 0
    for (const [i, packet] of packets.entries()) {
      if (readRtpHeader(packet, 0, packet.length, header)) {
        read++
        assert.ok(
          header.payloadStart >= 12 && header.payloadEnd <= packet.length && header.payloadStart <= header.payloadEnd,
        )
      }
      readRtcp(packet, 0, packet.length, { onSenderReport: () => reports++, onBye: () => reports++ })
      reorderer.push(packet, i * 10)
    }
    reorderer.expire(1e9)
    assert.equal(new Set(released).size, released.length, 'no packet comes twice')
    return `${few(read)} ${few(reports)} ${few(released.length)} ${few(reorderer.latePackets)}`
  },
}

export const packetTargets: readonly FuzzTarget[] = [rtpTarget, ...kinds.map(createStreamTarget)]

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { AppError } from '../../base/error.ts'
import type { Frame, StreamFormat } from '../frame.ts'
import { writeAdtsHeader } from './adts.ts'
import { crc32Mpeg2 } from './crc32.ts'
import { TsWriter } from './ts-writer.ts'

const sps = Uint8Array.of(0x67, 0x4d, 0x40, 0x1f, 0x99)
const pps = Uint8Array.of(0x68, 0xee, 0x3c)
const format: StreamFormat = {
  video: {
    codec: 'h264',
    width: 16,
    height: 16,
    codecString: 'avc1.4d401f',
    config: Uint8Array.of(1, 0x4d, 0x40, 0x1f, 0xff, 0xe1, 0, sps.length, ...sps, 1, 0, pps.length, ...pps),
  },
  audio: {
    codec: 'aac',
    sampleRate: 16_000,
    channels: 1,
    config: Uint8Array.of(0x14, 0x08),
    codecString: 'mp4a.40.2',
  },
}

/**
 * An independent demultiplexer: it returns the bytes and times of each elementary stream and checks the rules for
 * packets.
 */
function demux(bytes: Uint8Array) {
  assert.equal(bytes.length % 188, 0)
  const units: {
    pid: number
    pts: number
    dts: number
    pcr: number | undefined
    isRandomAccess: boolean
    data: number[]
  }[] = []
  const continuity = new Map<number, number>()
  const tables: number[] = []
  for (let at = 0; at < bytes.length; at += 188) {
    const packet = bytes.subarray(at, at + 188)
    assert.equal(packet[0], 0x47)
    const pid = ((packet[1]! & 0x1f) << 8) | packet[2]!
    const counter = packet[3]! & 0x0f
    const last = continuity.get(pid)
    if (last !== undefined) assert.equal(counter, (last + 1) & 0x0f)
    continuity.set(pid, counter)
    const hasField = (packet[3]! & 0x20) !== 0
    const field = hasField ? packet.subarray(4, 5 + packet[4]!) : new Uint8Array()
    let payload = packet.subarray(4 + field.length)
    assert.ok(payload.length > 0)
    const isStart = (packet[1]! & 0x40) !== 0
    if (pid === 0 || pid === 0x1000) {
      const section = payload.subarray(1, 1 + 3 + (((payload[2]! & 0x0f) << 8) | payload[3]!))
      assert.equal(crc32Mpeg2(section), 0)
      tables.push(pid)
      continue
    }
    if (isStart) {
      assert.deepEqual([...payload.subarray(0, 3)], [0, 0, 1])
      const length = (payload[4]! << 8) | payload[5]!
      const pts = parseTime(payload.subarray(9))
      const dts = payload[7]! >>> 6 === 3 ? parseTime(payload.subarray(14)) : pts
      const flags = field[1] ?? 0
      const pcr =
        flags & 0x10
          ? field[2]! * 2 ** 25 + field[3]! * 2 ** 17 + field[4]! * 2 ** 9 + field[5]! * 2 + (field[6]! >>> 7)
          : undefined
      units.push({ pid, pts, dts, pcr, isRandomAccess: (flags & 0x40) !== 0, data: [] })
      if (length > 0) assert.equal(pid, 0x101)
      payload = payload.subarray(9 + payload[8]!)
    }
    units.at(-1)!.data.push(...payload)
  }
  return { units, tables }
}

const parseTime = (b: Uint8Array) =>
  ((b[0]! >>> 1) & 7) * 2 ** 30 + b[1]! * 2 ** 22 + (b[2]! >>> 1) * 2 ** 15 + b[3]! * 2 ** 7 + (b[4]! >>> 1)

const video = (nals: readonly Uint8Array[], isKey: boolean, dts90k: number, pts90k = dts90k): Frame => ({
  kind: 'video',
  isKey,
  dts90k,
  pts90k,
  wallMs: 0,
  data: Uint8Array.from(nals.flatMap((nal) => [0, 0, nal.length >>> 8, nal.length & 0xff, ...nal])),
})

test('any frames are read back byte for byte with their times, counters and tables', () => {
  const nal = fc.uint8Array({ minLength: 1, maxLength: 700 })
  const anyFrame = fc.record({
    nals: fc.array(nal, { minLength: 1, maxLength: 3 }),
    isKey: fc.boolean(),
    isAudio: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(anyFrame, { maxLength: 12 }), fc.nat(2 ** 34), (specs, start) => {
      const writer = new TsWriter(format)
      const expected: number[][] = []
      const out: number[] = []
      specs.forEach(({ nals, isKey, isAudio }, i) => {
        const dts90k = start + i * 3600
        const frame: Frame = isAudio
          ? { kind: 'audio', isKey: true, dts90k, pts90k: dts90k, wallMs: 0, data: nals[0]! }
          : video(nals, isKey, dts90k, dts90k + 7200)
        out.push(...writer.writeFrame(frame))
        const sets = isKey ? [0, 0, 0, 1, ...sps, 0, 0, 0, 1, ...pps] : []
        expected.push(
          isAudio
            ? [...writeAdtsHeader(format.audio!.config, frame.data.length), ...frame.data]
            : [0, 0, 0, 1, 9, 0xf0, ...sets, ...nals.flatMap((n) => [0, 0, 0, 1, ...n])],
        )
      })
      const { units, tables } = demux(Uint8Array.from(out))
      assert.deepEqual(
        units.map((unit) => unit.data),
        expected,
      )
      const keys = specs.filter((spec) => spec.isKey && !spec.isAudio).length
      assert.deepEqual(tables, Array.from({ length: keys }, () => [0, 0x1000]).flat())
      specs.forEach(({ isAudio, isKey }, i) => {
        const { pts, dts, pcr, isRandomAccess } = units[i]!
        assert.equal(dts, (start + i * 3600 + 90_000) % 2 ** 33)
        assert.equal(pts, (start + i * 3600 + 90_000 + (isAudio ? 0 : 7200)) % 2 ** 33)
        if (isAudio) return
        assert.equal((dts - pcr! + 2 ** 33) % 2 ** 33, 18_000)
        assert.equal(isRandomAccess, isKey)
      })
    }),
  )
})

test('payloads of every length around the packet size fit exactly', () => {
  for (let length = 1; length < 400; length++) {
    const { units } = demux(new TsWriter(format).writeFrame(video([new Uint8Array(length)], false, 0)))
    assert.equal(units[0]!.data.length, 6 + 4 + length)
  }
})

test('broken lengths are reported as corrupt, unsupported formats as invalid', () => {
  const isKind = (kind: string) => (error: unknown) => error instanceof AppError && error.kind === kind
  const codec = fc.constantFrom('h264', 'h265')
  const broken: Frame = { ...video([], true, 0), data: Uint8Array.of(0, 0, 0, 9, 1) }
  assert.throws(() => new TsWriter(format).writeFrame(broken), isKind('corrupt'))
  assert.throws(() => new TsWriter({ ...format, video: { ...format.video, codec: 'mjpeg' } }), isKind('invalid'))
  fc.assert(
    fc.property(codec, fc.uint8Array({ maxLength: 40 }), fc.uint8Array({ maxLength: 40 }), (codec, config, data) => {
      try {
        new TsWriter({ ...format, video: { ...format.video, codec, config } }).writeFrame({
          ...video([], true, 0),
          data,
        })
      } catch (error) {
        assert.ok(isKind('corrupt')(error))
      }
    }),
  )
})

test('audio frames are dropped when the format has no audio', () => {
  const writer = new TsWriter({ ...format, audio: undefined })
  const audio: Frame = { ...video([], true, 0), kind: 'audio' }
  assert.equal(writer.writeFrame(audio).length, 0)
})

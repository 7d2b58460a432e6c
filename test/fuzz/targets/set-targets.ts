// Parsers of short structures that say what a stream is: parameter sets, configurations, the head of a picture.

import assert from 'node:assert/strict'
import { BareTimes } from '../../../server/ingest/http/bare-times.ts'
import { aacCodecString, parseAudioSpecificConfig } from '../../../server/media/aac/audio-specific-config.ts'
import { AacDepacketizer, parseAacHeaderSizes } from '../../../server/media/aac/depacketizer.ts'
import { LatmDepacketizer, parseLatmParameters } from '../../../server/media/aac/latm.ts'
import { parseAvcConfig, writeAvcConfig } from '../../../server/media/h264/avc-config.ts'
import { H264ParameterSets } from '../../../server/media/h264/parameter-sets.ts'
import { parseSps } from '../../../server/media/h264/sps.ts'
import {
  hevcCodecString,
  listHevcConfigNalUnits,
  parseHevcConfigProfile,
} from '../../../server/media/h265/hevc-config.ts'
import { H265ParameterSets } from '../../../server/media/h265/parameter-sets.ts'
import { parseHevcSps } from '../../../server/media/h265/sps.ts'
import { parseJpegHeader } from '../../../server/media/jpeg/jpeg-header.ts'
import { splitKeyFrame, withoutRefreshCount } from '../../../server/media/nal/key-frame.ts'
import { listAnnexBNalUnits, writeLengthPrefixedNalUnits } from '../../../server/media/nal/nal-units.ts'
import { PictureOrderReader } from '../../../server/media/nal/picture-order-reader.ts'
import { findRecoveryPoint } from '../../../server/media/nal/recovery-point.ts'
import { opusPacketSamples } from '../../../server/media/opus/opus-packet.ts'
import { bytesOf, hevcSamples } from '../../fixtures/cameras/hevc-parameter-sets.ts'
import { samplePps, sampleSps } from '../../support/ingest/scripted-camera.ts'
import { fragmentAac, packetizeAac } from '../../support/media/aac/packetizer.ts'
import type { FuzzTarget } from '../fuzz-target.ts'
import { catchOwn, few } from '../own-error.ts'

const startCode = Uint8Array.of(0, 0, 1)
const withStartCodes = (units: readonly Uint8Array[]) =>
  new Uint8Array(Buffer.concat(units.flatMap((unit) => [startCode, unit])))

/** All sets of a stream together are shorter; what thousands of them cost is seen where packets are read. */
const maxBytes = 4096

type Size = { readonly width: number; readonly height: number }

function checkSize({ width, height }: Size): void {
  assert.ok(Number.isSafeInteger(width) && Number.isSafeInteger(height))
  assert.ok(width > 0 && height > 0 && width <= 16_384 && height <= 16_384)
}

const h264Sets: FuzzTarget = {
  name: 'h264-sets',
  seeds: () => [withStartCodes([sampleSps['640x360'], samplePps]), withStartCodes([sampleSps['1920x1080'], samplePps])],
  run(input) {
    const sets = new H264ParameterSets()
    const errors = listAnnexBNalUnits(input.subarray(0, maxBytes)).map((nal) => {
      const error = catchOwn(() => {
        const { order, ...size } = parseSps(nal)
        checkSize(size)
        assert.ok((order.depth ?? 0) <= 16 && (order.frameRate ?? 1) > 0)
        parseAvcConfig(writeAvcConfig({ sps: [nal], pps: [samplePps] }))
      })
      return `${error} ${catchOwn(() => sets.take(nal, 0, nal.length))}`
    })
    const change = catchOwn(() => {
      const found = sets.isComplete ? sets.takeChange() : undefined
      if (found) checkSize(found.format)
    })
    return `${errors.slice(0, 3)} ${sets.isComplete} ${change}`
  },
}

const h265Sets: FuzzTarget = {
  name: 'h265-sets',
  seeds: () => hevcSamples.map(({ vps, sps, pps }) => withStartCodes([vps, sps, pps].map(bytesOf))),
  run(input) {
    const sets = new H265ParameterSets()
    const errors = listAnnexBNalUnits(input.subarray(0, maxBytes)).map((nal) => {
      const error = catchOwn(() => checkSize(parseHevcSps(nal)))
      return `${error} ${catchOwn(() => sets.take(nal, 0, nal.length))}`
    })
    const change = catchOwn(() => {
      const found = sets.isComplete ? sets.takeChange() : undefined
      if (found) checkSize(found.format)
    })
    return `${errors.slice(0, 3)} ${sets.isComplete} ${change}`
  },
}

const configurations: FuzzTarget = {
  name: 'configurations',
  seeds: () => [
    ...hevcSamples.map(({ hvcc }) => bytesOf(hvcc)),
    writeAvcConfig({ sps: [sampleSps['640x360']], pps: [samplePps] }),
  ],
  run(input) {
    const avc = catchOwn(() => parseAvcConfig(input))
    const hevc = catchOwn(() => {
      listHevcConfigNalUnits(input)
      assert.match(hevcCodecString(parseHevcConfigProfile(input)), /^hvc1\.[ABC]?\d+\./)
    })
    return `${avc} ${hevc}`
  },
}

const aac: FuzzTarget = {
  name: 'aac',
  seeds: () => [
    Uint8Array.of(0x11, 0x90, ...packetizeAac([Uint8Array.of(1, 2, 3), Uint8Array.of(4, 5)])),
    Uint8Array.of(0x12, 0x08, ...fragmentAac(new Uint8Array(200).fill(7), 100)[0]!),
    Uint8Array.of(0x2b, 0x8a, 0x08, 0x00),
    Uint8Array.of(0xff, 0xe8, 1, 2, 3, 4, 5),
  ],
  run(input, random) {
    const config = catchOwn(() => {
      const parsed = parseAudioSpecificConfig(input)
      assert.ok(parsed.sampleRate > 0 && parsed.sampleRate < 2 ** 24 && parsed.channels > 0 && parsed.channels <= 8)
      assert.match(aacCodecString(parsed), /^mp4a\.40\.\d{1,2}$/)
    })
    const digits = () => String(Math.floor(random() * 18))
    const parameters = new Map([
      ['sizelength', random() < 0.6 ? '13' : digits()],
      ['indexlength', random() < 0.6 ? '3' : digits()],
      ['indexdeltalength', random() < 0.6 ? '3' : digits()],
    ])
    let blocks = 0
    let bytes = 0
    const refused = catchOwn(() => {
      const depacketizer = new AacDepacketizer(parseAacHeaderSizes(parameters), (data) => {
        assert.ok(data.length > 0 && data.length <= 8192)
        blocks++
        bytes += data.length
      })
      for (let timestamp = 0; timestamp < 3; timestamp++) depacketizer.push(input, 2, input.length, timestamp >> 1)
    })
    assert.ok(bytes <= 3 * input.length + 8192, 'no more comes out than went in')
    return `${config} ${refused} ${few(blocks)}`
  },
}

const latm: FuzzTarget = {
  name: 'latm',
  // The first byte: how long the configuration is, and whether elements bring one. Then the configuration, and an element.
  seeds: () => [
    Uint8Array.of(4, 0x40, 0x00, 0x24, 0x10, 3, 1, 2, 3),
    Uint8Array.of(6, 0x40, 0x00, 0x26, 0x20, 0x3f, 0xc0, 255, 1, ...new Uint8Array(256)),
    Uint8Array.of(0x86, 0x40, 0x00, 0x24, 0x20, 0x3f, 0xc0, 0x20, 0x00, 0x12, 0x10, 0x1f, 0xe0, 0x01, 0x80),
    Uint8Array.of(0x86, 0x42, 0x00, 0x24, 0x20, 0x3f, 0xc0, 0x81, 0x80, 0x81, 0x80, 0x81, 0x80),
  ],
  run(input) {
    const [head = 0] = input
    const start = 1 + (head & 0x1f)
    const config = Buffer.from(input.subarray(1, start)).toString('hex')
    let blocks = 0
    let bytes = 0
    const refused = catchOwn(() => {
      const parameters = parseLatmParameters(
        new Map([
          ['config', config],
          ['cpresent', head >= 0x80 ? '1' : '0'],
        ]),
      )
      const depacketizer = new LatmDepacketizer(parameters, (data) => {
        assert.ok(data.length > 0 && data.length <= 8192)
        blocks++
        bytes += data.length
      })
      for (let timestamp = 0; timestamp < 3; timestamp++) depacketizer.push(input, start, input.length, timestamp >> 1)
    })
    assert.ok(bytes <= 4 * input.length, 'no more comes out than went in')
    return `${refused} ${few(blocks)}`
  },
}

const opus: FuzzTarget = {
  name: 'opus',
  seeds: () => [Uint8Array.of(0xfc, 1, 2, 3), Uint8Array.of(0x0b, 0x43, 1), Uint8Array.of(0x80)],
  run(input) {
    const samples = opusPacketSamples(input)
    assert.ok(samples >= 0 && samples <= 5760 && Number.isInteger(samples), `${samples} samples`)
    return String(samples)
  },
}

const jpegHead: FuzzTarget = {
  name: 'jpeg-head',
  seeds: () => [
    Uint8Array.of(
      0xff,
      0xd8,
      0xff,
      0xc0,
      0,
      11,
      8,
      0,
      48,
      0,
      64,
      1,
      1,
      0x11,
      0,
      0xff,
      0xda,
      0,
      8,
      1,
      1,
      0,
      0,
      63,
      0,
      5,
      0xff,
      0xd9,
    ),
    Uint8Array.of(
      0xff,
      0xd8,
      0xff,
      0xff,
      0xe0,
      0,
      4,
      1,
      2,
      0xff,
      0xc4,
      0,
      3,
      1,
      0xff,
      0xc2,
      0,
      11,
      8,
      0,
      48,
      0,
      64,
      3,
      1,
      0x22,
      0,
      0xff,
      0xda,
      0,
      2,
    ),
  ],
  run(input) {
    return String(
      catchOwn(() => {
        const { width, height } = parseJpegHeader(input)
        assert.ok(width > 0 && height > 0 && width < 65_536 && height < 65_536)
      }),
    )
  },
}

const slices: FuzzTarget = {
  name: 'slices',
  seeds: () => [
    withStartCodes([
      sampleSps['640x360'],
      samplePps,
      Uint8Array.of(6, 6, 2, 9, 0xc4, 0x80),
      Uint8Array.of(0x65, 0x88, 0x84, 0x21),
    ]),
    ...hevcSamples.map(({ vps, sps, pps }) =>
      withStartCodes([
        ...[vps, sps, pps].map(bytesOf),
        Uint8Array.of(0x4e, 1, 6, 1, 0xd0),
        Uint8Array.of(0x26, 1, 0xaf, 0x09, 0x40),
      ]),
    ),
  ],
  run(input) {
    const units = listAnnexBNalUnits(input.subarray(0, maxBytes))
    return (['h264', 'h265'] as const)
      .map((codec) => {
        const reader = new PictureOrderReader(codec)
        const times = new BareTimes(codec)
        let found = 0
        let points = 0
        let last = Number.NaN
        for (const [i, unit] of units.entries()) {
          const picture = reader.take([unit])
          if (picture) {
            assert.ok(Number.isSafeInteger(picture.count), `count ${picture.count}`)
            found++
          }
          last = times.take([unit], i * 3600)
          assert.ok(Number.isFinite(last), `time ${last}`)
          const point = findRecoveryPoint(unit, 0, unit.length, codec === 'h264' ? 1 : 2)
          if (point) {
            assert.ok(point.count >= 0 && point.start < point.end && point.end <= unit.length)
            points++
          }
          const data = writeLengthPrefixedNalUnits([unit])
          const parts = splitKeyFrame(codec, data)
          assert.ok(parts.reduce((sum, { length }) => sum + length, 0) <= data.length)
          assert.equal(withoutRefreshCount(data).length, data.length)
        }
        return `${few(found)} ${few(points)}`
      })
      .join()
  },
}

export const setTargets: readonly FuzzTarget[] = [slices, h264Sets, h265Sets, configurations, aac, latm, opus, jpegHead]

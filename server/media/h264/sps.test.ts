import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { AppError } from '../../base/error.ts'
import { avcCodecString, parseAvcConfig, writeAvcConfig } from './avc-config.ts'
import { writeInOrderConfig } from './in-order-config.ts'
import { escapeNal, RbspWriter } from './rbsp.ts'
import { parseSps } from './sps.ts'

const bytesOf = (hex: string) => Uint8Array.from(hex.match(/../g)!, (byte) => parseInt(byte, 16))

/** Written by x264. Sizes that are not a multiple of 16 are cropped, 720×576 is interlaced, 176×144 is 4:4:4. */
const samples = [
  {
    size: '640x360',
    profile: 66,
    depth: 0,
    sps: '6742c01eda0280bfe5c044000003000400000300c83c58ba80',
    pps: '68ce0fc8',
  },
  {
    size: '1920x1080',
    profile: 66,
    depth: 0,
    sps: '6742c028da01e0089f97011000000300100000030320f1832a',
    pps: '68ce0fc8',
  },
  {
    size: '322x182',
    profile: 66,
    depth: 0,
    sps: '6742c00dda05467889b011000003000100000300320f142aa0',
    pps: '68ce0fc8',
  },
  { size: '176x144', profile: 244, depth: 0, sps: '67f4000b919682c4ec0440000003004000000c83c50aa8', pps: '68ce0f1920' },
  {
    size: '720x576',
    profile: 100,
    depth: 2,
    sps: '6764001eacd940b424d8088000000300800000190f8a14cb',
    pps: '68fba3cb22c0',
  },
] as const

for (const { size, profile, depth, sps, pps } of samples) {
  test(`a parameter set of ${size} is parsed to its size, frame rate and picture order`, () => {
    const parsed = parseSps(bytesOf(sps))
    assert.equal(`${parsed.width}x${parsed.height}`, size)
    assert.equal(parsed.profile, profile)
    assert.equal(parsed.order.frameRate, 25)
    assert.deepEqual([parsed.order.depth, parsed.order.maxDepth], depth === 0 ? [0, 0] : [depth, 4])
    const sets = { sps: [bytesOf(sps)], pps: [bytesOf(pps), bytesOf(pps)] }
    assert.deepEqual(parseAvcConfig(writeAvcConfig(sets)), sets)
    assert.equal(avcCodecString(bytesOf(sps)), `avc1.${sps.slice(2, 8)}`)
  })
}

test('random and truncated parameter sets are either parsed or reported as corrupt', () => {
  const cut = fc.tuple(fc.constantFrom(...samples), fc.nat(30)).map(([{ sps }, size]) => bytesOf(sps).slice(0, size))
  const random = fc.uint8Array({ maxLength: 60 }).map((bytes) => Uint8Array.of(0x67, 100, 0, 30, ...bytes))
  fc.assert(
    fc.property(fc.oneof(cut, random), (bytes) => {
      for (const read of [parseSps, parseAvcConfig]) {
        try {
          read(bytes)
        } catch (error) {
          assert.ok(error instanceof AppError && error.kind === 'corrupt', String(error))
        }
      }
    }),
    { numRuns: 1000 },
  )
})

/** A set in decoding order (`pic_order_cnt_type` 2) of 640 × 368, with or without usability information. */
function writeSet(referenceFrames: number, timeScale: number | undefined): Uint8Array {
  const writer = new RbspWriter(64)
  const unsigned = (value: number) => {
    const length = Math.floor(Math.log2(value + 1))
    writer.bits(0, length)
    writer.bits(value + 1, length + 1)
  }
  writer.bits(0x674d001f, 32)
  for (const value of [0, 0, 2, referenceFrames]) unsigned(value)
  writer.bits(0, 1)
  for (const value of [39, 22]) unsigned(value)
  writer.bits(0b110, 3)
  writer.bits(timeScale === undefined ? 0 : 1, 1)
  if (timeScale !== undefined) {
    writer.bits(0b00001, 5)
    writer.bits(1, 32)
    writer.bits(timeScale, 32)
    writer.bits(0b10000, 5)
  }
  writer.bits(1, 1)
  return escapeNal(writer.take())
}

test('a set in decoding order that does not say so says so afterwards, and is the same otherwise', () => {
  const pps = bytesOf('68ce0fc8')
  fc.assert(
    fc.property(fc.nat(16), fc.option(fc.integer({ min: 1, max: 600 }), { nil: undefined }), (frames, timeScale) => {
      const set = writeSet(frames, timeScale)
      const before = parseSps(set)
      assert.equal(before.unlimited?.flag, timeScale === undefined ? 'usability' : 'restriction')
      const config = writeInOrderConfig(writeAvcConfig({ sps: [set], pps: [pps] }))
      const after = parseAvcConfig(config)
      assert.deepEqual(after.pps, [pps])
      assert.deepEqual(parseSps(after.sps[0]!), { ...before, unlimited: undefined })
      // Nothing is left to say.
      assert.deepEqual(writeInOrderConfig(config), config)
    }),
  )
})

test('a set that reorders, says how deep, or cannot be read stays as it is', () => {
  const pps = bytesOf('68ce0fc8')
  const configs = samples.map(({ sps }) => writeAvcConfig({ sps: [bytesOf(sps)], pps: [pps] }))
  for (const config of [...configs, Uint8Array.of(1, 2, 3)]) assert.deepEqual(writeInOrderConfig(config), config)
})

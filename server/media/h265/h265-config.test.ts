import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { bytesOf, hevcSamples } from '../../../test/fixtures/cameras/hevc-parameter-sets.ts'
import { AppError } from '../../base/error.ts'
import { hevcCodecString, listHevcConfigNalUnits, writeHevcConfig } from './hevc-config.ts'
import { parseHevcSps } from './sps.ts'

for (const { size, vps, sps, pps, hvcc, codec, depth } of hevcSamples) {
  test(`parameter sets of ${size} give the size, the codec string and the record that FFmpeg writes`, () => {
    const parsed = parseHevcSps(bytesOf(sps))
    assert.equal(`${parsed.width}x${parsed.height}`, size)
    assert.equal(parsed.order.depth, depth)
    assert.equal(hevcCodecString(parsed), codec)
    const config = writeHevcConfig({ vps: [bytesOf(vps)], sps: [bytesOf(sps)], pps: [bytesOf(pps)] })
    assert.equal(Buffer.from(config).toString('hex'), hvcc)
    assert.deepEqual(listHevcConfigNalUnits(config), [bytesOf(vps), bytesOf(sps), bytesOf(pps)])
  })
}

/** Fields of the given numbers of bits; `ue` writes an Exp-Golomb number. */
function writeBits(fields: readonly (readonly [value: number, bits: number | 'ue'])[]): Uint8Array {
  const bits = fields.map(([value, size]) => {
    if (size !== 'ue') return value.toString(2).padStart(size, '0')
    const code = (value + 1).toString(2)
    return '0'.repeat(code.length - 1) + code
  })
  return Uint8Array.from(bits.join('').match(/.{1,8}/g)!, (byte) => parseInt(byte.padEnd(8, '0'), 2))
}

test('profiles and levels of sub-layers are skipped', () => {
  const ones = (count: number) => Array.from({ length: count }, () => [0xff, 8] as const)
  const layers: [number, number][] = [[1, 1], [1, 1], [0, 1], [1, 1], ...Array(6).fill([0, 2])]
  const sps = writeBits([
    ...([
      [0x4201, 16],
      [5, 4],
      [2, 3],
      [1, 1],
      [0x61, 8],
      [0x60000000, 32],
    ] as const),
    ...([
      [0x90, 8],
      [1, 8],
      [1, 8],
      [1, 8],
      [1, 8],
      [1, 8],
      [93, 8],
    ] as const),
    ...layers,
    ...ones(11 + 1 + 1), // the first layer has both, the second has a level
    ...([
      [3, 'ue'],
      [2, 'ue'],
      [1920, 'ue'],
      [1088, 'ue'],
      [1, 1],
      [0, 'ue'],
      [2, 'ue'],
      [0, 'ue'],
      [8, 'ue'],
    ] as const),
    ...([
      [2, 'ue'],
      [0, 'ue'],
      [4, 'ue'],
      [1, 1],
    ] as const),
    ...([
      [1, 'ue'],
      [0, 'ue'],
      [0, 'ue'],
      [3, 'ue'],
      [1, 'ue'],
      [0, 'ue'],
      [4, 'ue'],
      [2, 'ue'],
      [0, 'ue'],
    ] as const),
  ])
  const { width, height, temporalLayers, id, vpsId, bitDepthLuma, order } = parseHevcSps(sps)
  assert.deepEqual([width, height, temporalLayers, id, vpsId], [1916, 1080, 3, 3, 5])
  assert.deepEqual([bitDepthLuma, order.depth], [10, 2])
})

test('random and truncated parameter sets and records are either parsed or reported as corrupt', () => {
  const sample = fc.constantFrom(...hevcSamples)
  const cut = fc
    .tuple(sample, fc.boolean(), fc.nat(120))
    .map(([{ sps, hvcc }, isSps, size]) => bytesOf(isSps ? sps : hvcc).slice(0, size))
  const random = fc.uint8Array({ maxLength: 80 }).map((bytes) => Uint8Array.of(0x42, 1, ...bytes))
  const record = fc.uint8Array({ maxLength: 80 }).map((bytes) => Uint8Array.of(1, ...bytes))
  fc.assert(
    fc.property(fc.oneof(cut, random, record), (bytes) => {
      for (const read of [parseHevcSps, listHevcConfigNalUnits]) {
        try {
          read(bytes)
        } catch (error) {
          assert.ok(error instanceof AppError && error.kind === 'corrupt', String(error))
        }
      }
    }),
    { numRuns: 2000 },
  )
})

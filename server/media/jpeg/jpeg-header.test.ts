import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { AppError } from '../../base/error.ts'
import { parseJpegHeader } from './jpeg-header.ts'

const segment = (marker: number, content: readonly number[]) => [0xff, marker, 0, content.length + 2, ...content]
const frame = (width: number, height: number, marker = 0xc0) =>
  segment(marker, [8, height >> 8, height & 0xff, width >> 8, width & 0xff, 1, 1, 0x11, 0])
const scan = segment(0xda, [1, 1, 0, 0, 63, 0])

test('the size is read wherever the frame header is located', () => {
  const jfif = segment(
    0xe0,
    [...'JFIF\0'].map((char) => char.charCodeAt(0)),
  )
  const bytes = Uint8Array.from([0xff, 0xd8, ...jfif, 0xff, ...frame(640, 481), ...segment(0xc4, [0]), ...scan, 1, 2])
  assert.deepEqual(parseJpegHeader(bytes), {
    width: 640,
    height: 481,
    components: 1,
    isSequential: true,
    hasHuffmanTables: true,
  })
  const progressive = parseJpegHeader(Uint8Array.from([0xff, 0xd8, ...frame(8, 8, 0xc2), ...scan]))
  assert.deepEqual([progressive.isSequential, progressive.hasHuffmanTables], [false, false])
})

test('random and truncated files are either parsed or reported as corrupt', () => {
  const whole = [0xff, 0xd8, ...segment(0xdb, new Array(65).fill(1)), ...frame(320, 240), ...scan]
  const cut = fc.nat(whole.length).map((size) => Uint8Array.from(whole.slice(0, size)))
  const random = fc.uint8Array({ maxLength: 80 }).map((bytes) => Uint8Array.of(0xff, 0xd8, ...bytes))
  fc.assert(
    fc.property(fc.oneof(cut, random), (bytes) => {
      try {
        const { width, height } = parseJpegHeader(bytes)
        assert.ok(width > 0 && height > 0)
      } catch (error) {
        assert.ok(error instanceof AppError && error.kind === 'corrupt', String(error))
      }
    }),
    { numRuns: 1000 },
  )
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { AppError } from '../../base/error.ts'
import { parseBoxHeader, scanBoxes } from './box-scanner.ts'

function writeHeader(size: number, type = 'free'): Uint8Array {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setUint32(0, size)
  bytes.set(Buffer.from(type, 'latin1'), 4)
  return bytes
}

const isCorrupt = (error: unknown) => error instanceof AppError && error.kind === 'corrupt'

test('a box that claims to be smaller than its header is rejected, and 0 does not mean the rest of the file', () => {
  assert.deepEqual(parseBoxHeader(writeHeader(8)), { type: 'free', bytes: 8, headerBytes: 8 })
  for (const size of [0, 2, 7]) assert.throws(() => parseBoxHeader(writeHeader(size)), isCorrupt, `${size}`)
  const long = (high: number, low: number) => {
    const bytes = new Uint8Array(16)
    bytes.set(writeHeader(1))
    new DataView(bytes.buffer).setUint32(8, high)
    new DataView(bytes.buffer).setUint32(12, low)
    return bytes
  }
  assert.equal(parseBoxHeader(long(0, 16))?.bytes, 16)
  for (const [high, low] of [[0, 15], [0x200000, 0]] as const) assert.throws(() => parseBoxHeader(long(high, low)), isCorrupt) // biome-ignore format: one line
})

test('scanning any bytes ends, with boxes that follow each other', () => {
  const sizes = fc.oneof(fc.nat(40), fc.constantFrom(0, 1, 7, 8, 0xffffffff))
  fc.assert(
    fc.property(fc.array(sizes, { maxLength: 20 }), (list) => {
      const bytes = new Uint8Array(Buffer.concat(list.map((size) => writeHeader(size))))
      try {
        const { boxes, restOffset } = scanBoxes(bytes)
        assert.equal(boxes.reduce((sum, box) => sum + box.bytes, 0), restOffset) // biome-ignore format: one line
        assert.ok(restOffset <= bytes.length)
      } catch (error) {
        if (!isCorrupt(error)) throw error
      }
    }),
  )
})

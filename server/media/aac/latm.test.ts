import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { LatmDepacketizer, parseLatmParameters } from './latm.ts'

/** Writes fields as [value, bits]. */
function writeBits(fields: readonly (readonly [number, number])[]): Uint8Array {
  const bits = fields.flatMap(([value, count]) =>
    Array.from({ length: count }, (_, i) => (value >> (count - 1 - i)) & 1),
  )
  const bytes = new Uint8Array(Math.ceil(bits.length / 8))
  for (const [i, bit] of bits.entries()) bytes[i >> 3]! |= bit << (7 - (i & 7))
  return bytes
}

/** AAC-LC, 44.1 kHz, stereo, and what is around it. */
const audioConfig = [
  [2, 5],
  [4, 4],
  [2, 4],
  [0, 3],
] as const
const streamMux = (blocks: number) =>
  [[0, 1], [1, 1], [blocks - 1, 6], [0, 4], [0, 3], ...audioConfig, [0, 3], [255, 8], [0, 1], [0, 1]] as const

function writeElement(blocks: readonly Uint8Array[], inBand?: 'same' | 'new'): Uint8Array {
  const head =
    inBand === undefined ? [] : inBand === 'same' ? ([[1, 1]] as const) : [[0, 1] as const, ...streamMux(blocks.length)]
  const lengthOf = (bytes: number): (readonly [number, number])[] =>
    bytes >= 255 ? [[255, 8], ...lengthOf(bytes - 255)] : [[bytes, 8]]
  return writeBits([
    ...head,
    ...blocks.flatMap((block) => [...lengthOf(block.length), ...[...block].map((byte) => [byte, 8] as const)]),
  ])
}

function open(options: { blocks: number; isConfigInBand: boolean }) {
  const seen: { data: number[]; timestamp: number; index: number }[] = []
  const depacketizer = new LatmDepacketizer(options, (data, timestamp, index) =>
    seen.push({ data: [...data], timestamp, index }),
  )
  const send = (payload: Uint8Array, timestamp: number) => depacketizer.push(payload, 0, payload.length, timestamp)
  return { seen, depacketizer, send }
}

const block = fc.uint8Array({ minLength: 1, maxLength: 1000 })

test('the configuration of real streams is read', () => {
  const read = (config: string, cpresent?: string) => {
    const parameters = parseLatmParameters(
      new Map([['config', config], ...(cpresent ? [['cpresent', cpresent] as const] : [])]),
    )
    return [Buffer.from(parameters.config).toString('hex'), parameters.blocks, parameters.isConfigInBand]
  }
  // The example of RFC 6416, and what FFmpeg and GStreamer write.
  assert.deepEqual(read('400026203fc0', '0'), ['1310', 1, false])
  assert.deepEqual(read('400024203fc0'), ['1210', 1, true])
  assert.deepEqual(read('40002410', '0'), ['1208', 1, false])
  assert.deepEqual(read(Buffer.from(writeBits(streamMux(3))).toString('hex'), '0'), ['1210', 3, false])
  for (const config of ['', '40', '4000', 'c0', '400023203fc0'.slice(0, 6), '0000', '40ffff203fc0'])
    assert.throws(() => read(config), /AAC: /, config)
})

test('elements are read back, whole and in parts, with and without a configuration in band', () => {
  fc.assert(
    fc.property(
      fc.array(block, { minLength: 1, maxLength: 5 }),
      fc.constantFrom(undefined, 'same' as const, 'new' as const),
      fc.integer({ min: 1, max: 1400 }),
      (blocks, inBand, partBytes) => {
        const element = writeElement(blocks, inBand)
        const known = inBand === 'new' ? 1 : blocks.length
        const { seen, send, depacketizer } = open({ blocks: known, isConfigInBand: inBand !== undefined })
        for (let at = 0; at < element.length; at += partBytes) send(element.subarray(at, at + partBytes), 7)
        const expected = blocks.map((data, index) => ({ data: [...data], timestamp: 7, index }))
        assert.deepEqual(seen, expected)
        // A lost end costs its element.
        send(element.subarray(0, element.length - 1), 8)
        send(element, 9)
        assert.equal(seen.length, 2 * blocks.length)
        assert.deepEqual([depacketizer.counters.badPayloads, depacketizer.counters.droppedBlocks], [0, 1])
      },
    ),
  )
})

test('whatever a camera sends, the depacketizer does not throw and keeps little', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 100 })), fc.boolean(), (payloads, isConfigInBand) => {
      const { send } = open({ blocks: 2, isConfigInBand })
      for (const [i, payload] of payloads.entries()) send(payload, i >> 2)
    }),
  )
  const { send, depacketizer } = open({ blocks: 1, isConfigInBand: false })
  for (let i = 0; i < 100; i++) send(new Uint8Array(1400).fill(255), 1)
  assert.ok(depacketizer.counters.badPayloads > 0)
})

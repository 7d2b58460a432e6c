import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { aacHbrParameters, fragmentAac, packetizeAac } from '../../../test/support/media/aac/packetizer.ts'
import { AppError } from '../../base/error.ts'
import { aacCodecString, parseAudioSpecificConfig, writeAudioSpecificConfig } from './audio-specific-config.ts'
import { AacDepacketizer, parseAacHeaderSizes } from './depacketizer.ts'

const sizes = parseAacHeaderSizes(new Map(aacHbrParameters))

function open() {
  const seen: { data: Uint8Array; timestamp: number; index: number }[] = []
  const depacketizer = new AacDepacketizer(sizes, (data, timestamp, index) => seen.push({ data, timestamp, index }))
  const send = (payload: Uint8Array, timestamp: number) => depacketizer.push(payload, 0, payload.length, timestamp)
  return { seen, depacketizer, send }
}

const block = fc.uint8Array({ minLength: 1, maxLength: 3000 })

test('several blocks in one packet are read back in order', () => {
  fc.assert(
    fc.property(fc.array(block, { minLength: 1, maxLength: 8 }), (blocks) => {
      const { seen, send } = open()
      send(packetizeAac(blocks), 77)
      assert.deepEqual(
        seen,
        blocks.map((data, index) => ({ data, timestamp: 77, index })),
      )
    }),
  )
})

test('a block split over several packets is reassembled, and dropped when a part is missing', () => {
  fc.assert(
    fc.property(block, fc.integer({ min: 5, max: 1400 }), (data, maxPayloadBytes) => {
      const { seen, send, depacketizer } = open()
      const parts = fragmentAac(data, maxPayloadBytes)
      for (const part of parts) send(part, 1)
      assert.deepEqual(seen, [{ data, timestamp: 1, index: 0 }])
      if (parts.length < 3) return
      send(parts[0]!, 2)
      depacketizer.markLoss()
      for (const part of parts.slice(2)) send(part, 2)
      send(packetizeAac([data]), 3)
      assert.deepEqual(
        seen.map((item) => item.timestamp),
        [1, 3],
      )
    }),
  )
})

test('the header of a transport stream (ADTS) before a block is removed, with AU headers and in their place', () => {
  const { seen, depacketizer, send } = open()
  const withHeader = (data: Uint8Array, length = data.length + 7) =>
    Uint8Array.of(
      0xff,
      0xf1,
      0x4c,
      0x80 | (length >> 11),
      (length >> 3) & 0xff,
      ((length & 7) << 5) | 0x1f,
      0xfc,
      ...data,
    )
  const [first, second] = [100, 300].map((length) => Uint8Array.from({ length }, (_, i) => i * 7)) as [
    Uint8Array,
    Uint8Array,
  ]
  send(packetizeAac([withHeader(first), withHeader(second)]), 1)
  for (const part of fragmentAac(withHeader(second), 120)) send(part, 2)
  send(Uint8Array.of(...withHeader(first), ...withHeader(second)), 3)
  // Of another length: bytes of a block.
  const chance = withHeader(first, 90)
  send(packetizeAac([chance]), 4)
  assert.deepEqual(
    seen.map(({ data, timestamp, index }) => [[...data], timestamp, index]),
    [
      [[...first], 1, 0],
      [[...second], 1, 1],
      [[...second], 2, 0],
      [[...first], 3, 0],
      [[...second], 3, 1],
      [[...chance], 4, 0],
    ],
  )
  assert.equal(depacketizer.counters.badPayloads, 0)
  send(withHeader(first).subarray(0, 80), 5)
  assert.deepEqual([seen.length, depacketizer.counters.badPayloads], [6, 1])
})

test('random payloads never throw', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 40 })), (payloads) => {
      const { send } = open()
      for (const payload of payloads) send(payload, 0)
    }),
  )
})

test('optional fields and missing sizes are rejected with their name', () => {
  assert.throws(() => parseAacHeaderSizes(new Map([...aacHbrParameters, ['ctsdeltalength', '16']])), /ctsdeltalength/)
  assert.throws(() => parseAacHeaderSizes(new Map()), { kind: 'invalid' })
})

test('AudioSpecificConfig records are parsed', () => {
  const read = (...bytes: number[]) => parseAudioSpecificConfig(Uint8Array.from(bytes))
  const lc = { objectType: 2, sampleRate: 48_000, channels: 2, samplesPerBlock: 1024, extensionType: undefined }
  assert.deepEqual(read(0x11, 0x90), lc)
  assert.equal(aacCodecString(read(0x14, 0x08)), 'mp4a.40.2')
  const he = read(0x2b, 0x92, 0x08, 0x00)
  assert.deepEqual([he.objectType, he.sampleRate, he.extensionType], [2, 22_050, 5])
  for (const sampleRate of [8000, 16_000, 44_100, 48_000]) {
    for (const channels of [1, 2, 8]) {
      const parsed = parseAudioSpecificConfig(writeAudioSpecificConfig({ sampleRate, channels }))
      assert.deepEqual(parsed, { ...lc, sampleRate, channels })
    }
  }
})

test('a random configuration is either parsed or reported as corrupt', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 8 }), (config) => {
      try {
        parseAudioSpecificConfig(config)
      } catch (error) {
        assert.ok(error instanceof AppError && error.kind === 'corrupt')
      }
    }),
  )
})

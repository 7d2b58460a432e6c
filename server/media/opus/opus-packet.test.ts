import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { opusPacketSamples, writeOpusConfig } from './opus-packet.ts'

test('the duration of a packet is read from its first bytes', () => {
  const toc = (config: number, code: number) => (config << 3) | code
  for (const [bytes, ms] of [
    [[toc(1, 0), 9], 20],
    [[toc(3, 1), 9], 120],
    [[toc(13, 2), 9], 40],
    [[toc(16, 0), 9], 2.5],
    [[toc(31, 3), 0x83, 9], 60],
    [[toc(19, 3), 7, 9], 0], // 140 ms
    [[toc(31, 3)], 0],
    [[], 0],
  ] as const) {
    assert.equal(opusPacketSamples(Uint8Array.from(bytes)), ms * 48, `${bytes}`)
  }
})

test('any bytes have a duration of at most 120 ms', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 5 }), (bytes) => {
      const samples = opusPacketSamples(bytes)
      assert.ok(samples >= 0 && samples <= 5760)
    }),
  )
})

test('the configuration equals that of RFC 7845 except for its byte order', () => {
  assert.deepEqual([...writeOpusConfig(2)], [0, 2, 0, 0, 0, 0, 0xbb, 0x80, 0, 0, 0])
})

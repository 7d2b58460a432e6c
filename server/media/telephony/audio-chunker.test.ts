import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { AudioChunker } from './audio-chunker.ts'
import type { AudioSource } from './audio-transcoder.ts'
import { bitsPerSample, silenceByte, telephoneCodings } from './telephone-coding.ts'

const pcmu: AudioSource = { coding: 'pcmu', sampleRate: 8000 }

function open(source: AudioSource) {
  const chunks: { data: Uint8Array; start90k: number }[] = []
  return { chunks, chunker: new AudioChunker(source, (data, start90k) => chunks.push({ data, start90k })) }
}

const source = fc.record({
  coding: fc.constantFrom(...telephoneCodings),
  sampleRate: fc.constantFrom<8000 | 16_000>(8000, 16_000),
})

test('chunks contain all audio with the right times, however it is split into packets', () => {
  // Groups of eight samples, as in G.726.
  const groups = fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 60 })
  fc.assert(
    fc.property(source, groups, (source, groups) => {
      const { chunks, chunker } = open(source)
      const bits = bitsPerSample(source.coding)
      const sent: number[] = []
      let samples = 0
      for (const count of groups) {
        const payload = Uint8Array.from({ length: count * bits }, (_, i) => (sent.length + i) % 251)
        chunker.push(payload, 0, payload.length, 1000 + (samples * 90_000) / source.sampleRate)
        sent.push(...payload)
        samples += count * 8
      }
      const got = chunks.flatMap(({ data }) => [...data])
      assert.deepEqual(got, sent.slice(0, got.length))
      assert.ok(sent.length - got.length < (source.sampleRate / 16_000) * 1024 * bits)
      for (const [i, { start90k }] of chunks.entries()) assert.equal(start90k, 1000 + i * 5760)
    }),
  )
})

test('lost packets are replaced by silence of the same length', () => {
  const { chunks, chunker } = open(pcmu)
  const payload = new Uint8Array(160).fill(1)
  for (const i of [0, 1, 2, 5, 6, 7, 8]) chunker.push(payload, 0, 160, i * 1800)
  const all = chunks.flatMap(({ data }) => [...data])
  assert.equal(chunks.length, 2)
  assert.deepEqual([all[479], all[480], all[799], all[800]], [1, silenceByte('pcmu'), silenceByte('pcmu'), 1])
  assert.deepEqual(
    chunks.map(({ start90k }) => start90k),
    [0, 5760],
  )
})

test('a long gap or a step back ends the chunk, and the next one starts at its own time', () => {
  for (const next90k of [900_000, 500]) {
    const { chunks, chunker } = open(pcmu)
    chunker.push(new Uint8Array(600).fill(1), 0, 600, 0)
    chunker.push(new Uint8Array(600).fill(2), 0, 600, next90k)
    assert.deepEqual(
      chunks.map(({ start90k }) => start90k),
      [0, 5760, next90k],
    )
    assert.deepEqual([...chunks[1]!.data.subarray(86, 90)], [1, 1, 255, 255])
    assert.equal(chunks[2]!.data[0], 2)
  }
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { writeInterleaved } from '../../media/rtsp/interleaved.ts'
import { RtspStreamReader } from '../../media/rtsp/stream-reader.ts'
import { InterleavedTracks } from './interleaved-tracks.ts'

const answer = new TextEncoder().encode('RTSP/1.0 200 OK\r\nCSeq: 1\r\n\r\n')

test('a false packet among invalid bytes does not swallow real packets, wherever reads are split', () => {
  const tracks = new InterleavedTracks()
  const handler = { payloadType: 96, onRtp: () => {}, onRtcp: () => {} }
  tracks.open(0, handler, () => {}).accept(undefined)
  const packet = writeInterleaved(0, Uint8Array.of(0x80, 96, 0, 1, 2, 3, 4, 5))
  const report = writeInterleaved(1, Uint8Array.of(0x80, 200, 0, 1, 2, 3, 4, 5))
  const expected = [packet, report, packet].map((item) => [...item])
  const falseStarts = [
    [0x24, 0, 0x7f, 0xff, 0x80, 97],
    [0x24, 1, 0x40, 0, 0x80, 0x48],
    [0x24, 2, 0x40, 0, 0x80, 96],
    [0x24, 0, 0x40, 0, 0x40, 96],
  ]
  for (const falseStart of falseStarts) {
    const stream = [answer, packet, [1], falseStart, report, packet]
    const bytes = Uint8Array.from(stream.flatMap((part) => [...part]))
    for (let size = 1; size <= bytes.length; size++) {
      const seen: number[][] = []
      const reader = new RtspStreamReader({
        onPacket: (channel, from, start, end) => seen.push([...writeInterleaved(channel, from.slice(start, end))]),
        onMessage: () => {},
        isPacket: (...of) => tracks.isPacket(...of),
      })
      for (let at = 0; at < bytes.length; at += size) reader.push(bytes.slice(at, at + size))
      assert.deepEqual(seen, expected, `${falseStart}, reads of ${size}`)
    }
  }
})

const handler = { payloadType: 96, onRtp: () => {}, onRtcp: () => {} }

/** The packets that are read from the stream in chunks of this many bytes. */
function readPackets(bytes: Uint8Array, size: number): number[][] {
  const tracks = new InterleavedTracks()
  tracks.open(0, handler, () => {}).accept(undefined)
  const seen: number[][] = []
  const reader = new RtspStreamReader({
    onPacket: (channel, from, start, end) => seen.push([...writeInterleaved(channel, from.slice(start, end))]),
    onMessage: () => {},
    isPacket: (...of) => tracks.isPacket(...of),
    isExpected: (...of) => tracks.isExpected(...of),
  })
  for (let at = 0; at < bytes.length; at += size) reader.push(bytes.slice(at, at + size))
  return seen
}

const isOneOf = (items: readonly number[][], item: readonly number[]) => items.some((one) => `${one}` === `${item}`)

test('a stray $ right after a packet does not swallow real packets, wherever reads are split', () => {
  const packets = [0, 1, 2, 3].map((n) => [
    ...writeInterleaved(0, Uint8Array.of(0x80, 96, 0, n, 2, 3, 4, 5, 6, 7, 8, 9)),
  ])
  const report = [...writeInterleaved(1, Uint8Array.of(0x80, 200, 0, 1, 2, 3, 4, 5))]
  const strays = [
    [0x24],
    [0x24, 0x24, 0x24],
    [0x24, 0],
    [0x24, 0, 0x7f],
    [0x24, 0, 0x7f, 0xff],
    [0x24, 3, 0, 9, 0x80],
    [0x24, 9, 0xff, 0xff, 0x80, 97],
  ]
  const expected = [packets[0]!, packets[1]!, report, packets[2]!, packets[3]!]
  for (const stray of strays) {
    const stream = [[...answer], packets[0]!, stray, packets[1]!, report, packets[2]!, packets[3]!]
    const bytes = Uint8Array.from(stream.flat())
    for (let size = 1; size <= bytes.length; size++) {
      assert.deepEqual(readPackets(bytes, size), expected, `${stray}, reads of ${size}`)
    }
  }
})

test('bytes that begin with $ after any packet swallow no packets unless they form a packet themselves', () => {
  // Packets contain no '$', because bytes that end at one cannot be distinguished from a packet.
  const payload = fc.uint8Array({ minLength: 1, maxLength: 300 }).map((bytes) => bytes.map((byte) => byte & 0xdb))
  const stray = fc.uint8Array({ maxLength: 20 }).map((bytes) => [0x24, ...bytes.map((byte) => byte & 0x7f)])
  const property = fc.property(
    fc.array(payload, { minLength: 6, maxLength: 12 }),
    stray,
    fc.integer({ min: 1, max: 700 }),
    (all, between, size) => {
      const packets = all.map((data, n) => [...writeInterleaved(0, Uint8Array.of(0x80, 96, 0, n, ...data))])
      const bytes = Uint8Array.from([[...answer], packets[0]!, between, ...packets.slice(1)].flat())
      const seen = readPackets(bytes, size)
      const lost = packets.filter((packet) => !isOneOf(seen, packet))
      assert.equal(lost.length, 0, `${lost.length} of ${packets.length} lost`)
    },
  )
  // The bytes are reproducible: one of many thousands ends where a packet begins.
  fc.assert(property, { numRuns: 1000, seed: 24 })
})

test('unexpected packets are skipped without a loss', () => {
  const packet = [...writeInterleaved(0, Uint8Array.of(0x80, 96, 0, 1, 2, 3, 4, 5))]
  const foreign = [
    writeInterleaved(7, Uint8Array.of(0x80, 107, 0, 1, 2, 3)),
    writeInterleaved(9, Uint8Array.of(1, 2, 3, 4, 5, 6, 7)),
    writeInterleaved(0, new Uint8Array()),
    writeInterleaved(8, new Uint8Array(2000)),
  ].map((bytes) => [...bytes])
  const stream = [packet, ...foreign.flatMap((item) => [item, packet, packet])]
  const bytes = Uint8Array.from([[...answer], ...stream].flat())
  for (let size = 1; size <= bytes.length; size += size < 30 ? 1 : 97) {
    assert.deepEqual(readPackets(bytes, size), stream, `reads of ${size}`)
  }
})

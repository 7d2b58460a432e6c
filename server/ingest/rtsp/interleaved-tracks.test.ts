import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { writeInterleaved } from '../../media/rtsp/interleaved.ts'
import { RtspStreamReader } from '../../media/rtsp/stream-reader.ts'
import { InterleavedTracks } from './interleaved-tracks.ts'

const answer = new TextEncoder().encode('RTSP/1.0 200 OK\r\nCSeq: 1\r\n\r\n')

test('among bytes that are nothing, what looks like a packet and is of no track takes nothing along, wherever reads cut', () => {
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

/** What is seen of the stream in reads of this many bytes. */
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

test('a stray $ right behind a packet takes nothing along, wherever reads cut', () => {
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

test('bytes that begin with $ behind any packet cost nothing, unless they are a packet themselves', () => {
  // No '$' in packets: where what looks like a packet ends at one, it is one as far as anybody can tell.
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
  // The same each time: one of many thousand ends where a packet begins.
  fc.assert(property, { numRuns: 1000, seed: 24 })
})

test('packets that nobody expects are passed over without a loss', () => {
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

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeInterleaved } from '../media/rtsp/interleaved.ts'
import { RtspStreamReader } from '../media/rtsp/stream-reader.ts'
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

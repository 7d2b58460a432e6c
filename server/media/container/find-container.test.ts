import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { findContainer, maxProbeBytes } from './find-container.ts'

const hex = (text: string) => new Uint8Array(Buffer.from(text.replaceAll(' ', ''), 'hex'))
const text = (words: string) => new Uint8Array(Buffer.from(words, 'latin1'))
const box = (type: string) => new Uint8Array([0, 0, 0, 0x18, ...text(type), ...text('isom')])

function transportStream(skipped: number, distance = 188): Uint8Array {
  const bytes = new Uint8Array(distance * 6).fill(0xff)
  for (let at = distance - 188; at < bytes.length; at += distance) bytes[at] = 0x47
  return bytes.subarray(skipped)
}

const containers: readonly (readonly [string, Uint8Array, string])[] = [
  ['Matroska', hex('1a45dfa3 9f428681'), 'matroska'],
  ['FLV', hex('464c5601 05000000 09'), 'flv'],
  ['an MP4 file', box('ftyp'), 'mov'],
  ['MP4 fragments', box('moof'), 'mov'],
  ['a transport stream', transportStream(0), 'mpegts'],
  ['a transport stream that starts in the middle of a packet', transportStream(101), 'mpegts'],
  ['a transport stream with a timestamp before each packet', transportStream(50, 192), 'mpegts'],
  ['H.264 that starts with a delimiter', hex('00000001 09f0 00000001 6742'), 'h264'],
  ['H.264 that starts with a parameter set', hex('000001 674d401f'), 'h264'],
  ['H.265 that starts with a parameter set', hex('00000001 40010c01'), 'hevc'],
  ['H.265 that starts with a delimiter', hex('00000001 460150'), 'hevc'],
]

for (const [what, bytes, format] of containers) {
  test(`${what} is recognized`, () => assert.deepEqual(findContainer(bytes), { kind: 'container', format }))
}

test('JPEG images are recognized, whatever precedes them', () => {
  for (const head of [
    hex('ffd8ffe0'),
    text('--frame\r\n'),
    text('\r\n--frame\r\n'),
    text('Content-Type: image/jpeg\r\n'),
  ])
    assert.deepEqual(findContainer(head), { kind: 'jpeg' })
})

test('references to other streams and unsupported formats are named', () => {
  const others = {
    hls: ['#EXTM3U\n#EXT-X-VERSION:3\n', 'ï»¿#EXTM3U\n'],
    dash: ['<?xml version="1.0"?>\n<MPD xmlns=""', '<MPD type="dynamic">'],
    sdp: ['v=0\r\no=- 0 0 IN IP4 10.0.0.1\r\n'],
    rtsp: ['RTSPtextURL\nrtsp://x/', '[Reference]\r\nRef1=http://x', 'rtsp://10.0.0.1/'],
    avi: ['RIFF\0\0\0\0AVI LIST'],
    asf: ['\x30\x26\xb2\x75\x8e\x66\xcf\x11'],
    program_stream: ['\0\0\x01\xba'],
    ogg: ['OggS\0'],
  }
  for (const [content, heads] of Object.entries(others)) {
    for (const head of heads) assert.deepEqual(findContainer(text(head)), { kind: 'other', content }, head)
  }
  for (const head of ['<html>', 'v=', '', '{}']) assert.equal(findContainer(text(head)), undefined)
})

test('more bytes never change the result', () => {
  const heads = containers.map(([, bytes]) => bytes)
  fc.assert(
    fc.property(fc.constantFrom(...heads), fc.uint8Array({ maxLength: 400 }), fc.nat(300), (head, more, cut) => {
      const all = Uint8Array.from([...head, ...more])
      const early = findContainer(all.subarray(0, cut))
      if (early) assert.deepEqual(findContainer(all), early)
    }),
  )
})

test('random bytes never throw', () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: maxProbeBytes }), (bytes) => void findContainer(bytes)))
})

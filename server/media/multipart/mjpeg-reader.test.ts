import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { MjpegReader } from './mjpeg-reader.ts'

const encode = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0))
const join = (...parts: readonly (Uint8Array | string)[]) =>
  Uint8Array.from(parts.flatMap((part) => [...(typeof part === 'string' ? encode(part) : part)]))

/**
 * A JPEG with this many bytes of scan data and a small JPEG in its header, like the thumbnails that cameras put into
 * EXIF.
 */
function createJpeg(tag: number, size = 300): Uint8Array {
  const segment = (marker: number, content: readonly number[]) => [
    ...[0xff, marker, (content.length + 2) >> 8, (content.length + 2) & 0xff],
    ...content,
  ]
  const small = [0xff, 0xd8, 0xff, 0xda, 0, 2, 1, 2, 3, 0xff, 0xd9]
  const data = Array.from({ length: size }, (_, i) => (i * 7 + tag) % 0xfe)
  return Uint8Array.from([
    ...[0xff, 0xd8],
    ...segment(0xe1, small),
    ...segment(0xc0, [8, 0, 8, 0, 8, 1, 1, 0x11, 0]),
    ...segment(0xda, [1, 1, 0, 0, 63, 0]),
    ...data,
    ...[0xff, 0, 0xff, 0xd3, 5, 0xff, 0xff, 0xd9],
  ])
}

const jpegs = [createJpeg(1), createJpeg(2, 70_000), createJpeg(3), createJpeg(4)]

type Framing = (jpeg: Uint8Array, index: number) => Uint8Array

const part = (head: string) => (jpeg: Uint8Array) => join(head.replace('{length}', String(jpeg.length)), jpeg, '\r\n')

/**
 * Streams as real cameras send them, with the name of the camera where it is known. They are described on GitHub:
 * Mobotix in go2rtc issue 1833, Tasmota in its issue 12376, ESP32-CAM in esp32cam issue 67, OctoPrint in
 * OctoPrint-Obico pull request 151, D-Link in webcam-capture pull request 441. Announced boundaries that include their
 * dashes have no effect here: py-mjpeg pull request 2 (Panasonic HE40) and multipart-stream-rs pull request 2 (Sony
 * SNC-EB640).
 */
const framings: { readonly [name: string]: Framing } = {
  'as in the RFC': part('--frame\r\nContent-Type: image/jpeg\r\nContent-Length: {length}\r\n\r\n'),
  'without lengths (Mobotix T25, FFmpeg)': part('--ffmpeg\r\nContent-type: image/jpeg\r\n\r\n'),
  'without the first boundary (Tasmota, ESP32-CAM)': (jpeg, index) =>
    join(
      index > 0 ? '--b\r\n' : '',
      `Content-Type: image/jpeg\r\nContent-Length: ${jpeg.length}\r\n\r\n`,
      jpeg,
      '\r\n',
    ),
  'with lower-case headers and bare line feeds': part('--b\ncontent-length:{length}\nX-Time: 1\n\n'),
  'with lengths that are too large (OctoPrint)': (jpeg) =>
    join(`--b\r\nContent-Length: ${jpeg.length + 50}\r\n\r\n`, jpeg, '\r\n'),
  'with lengths that are too small (D-Link DCS-930)': (jpeg) =>
    join(`--b\r\nContent-Length: ${jpeg.length - 5}\r\n\r\n`, jpeg, '\r\n'),
  'with lengths that include the line end': (jpeg) =>
    join(`--b\r\nContent-Length: ${jpeg.length + 2}\r\n\r\n`, jpeg, '\r\n'),
  'with a length that is not a number': part('--b\r\nContent-Length: unknown\r\n\r\n'),
  'with an absurdly large length': part('--b\r\nContent-Length: 999999999\r\n\r\n'),
  'with nothing between frames': (jpeg) => jpeg,
  'with zeros after frames': (jpeg) => join('--b\r\n\r\n', jpeg, new Uint8Array(37), '\r\n'),
  'with other parts between frames': (jpeg) =>
    join(
      '--b\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello\r\n--b\r\nContent-Type: image/jpeg\r\n\r\n',
      jpeg,
      '\r\n',
    ),
}

function read(stream: Uint8Array, sizes: readonly number[], options = {}) {
  const seen: Uint8Array[] = []
  const reader = new MjpegReader({ onFrame: (jpeg) => seen.push(jpeg), ...options })
  const shared = new Uint8Array(Math.max(...sizes))
  for (let at = 0, i = 0; at < stream.length; i++) {
    const size = Math.min(sizes[i % sizes.length]!, stream.length - at)
    shared.fill(0xff)
    shared.set(stream.subarray(at, at + size))
    reader.push(shared.subarray(0, size))
    at += size
  }
  return { seen, reader }
}

for (const [name, frame] of Object.entries(framings)) {
  test(`frames are found ${name}, wherever reads split`, () => {
    const stream = join(...jpegs.map(frame))
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 5000 }), { minLength: 1, maxLength: 5 }), (sizes) => {
        const { seen, reader } = read(stream, sizes)
        // When lengths are too large, the last frame is found only with the next one.
        const due = name.includes('too large') && seen.length === 3 ? jpegs.slice(0, 3) : jpegs
        assert.deepEqual(seen, due)
        assert.equal(reader.badFrames, 0)
      }),
      { numRuns: 30 },
    )
  })
}

test('single bytes give the same frames', () => {
  const stream = join(...[jpegs[0]!, jpegs[2]!].map(framings['as in the RFC']!))
  assert.deepEqual(read(stream, [1]).seen, [jpegs[0], jpegs[2]])
})

test('a truncated frame is dropped and the next one is not', () => {
  const [first, , third] = jpegs
  const { seen, reader } = read(join('--b\r\n\r\n', first!.subarray(0, 200), '\r\n--b\r\n\r\n', third!), [100])
  assert.deepEqual(seen, [third])
  assert.equal(reader.badFrames, 1)
})

test('frames without an end marker get one when their length is right', () => {
  const cut = jpegs[0]!.subarray(0, -3)
  const frame = part('--b\r\nContent-Length: {length}\r\n\r\n')
  const { seen, reader } = read(join(frame(cut), frame(cut), '--b\r\n'), [64])
  assert.deepEqual(seen, [join(cut, Uint8Array.of(0xff, 0xd9)), join(cut, Uint8Array.of(0xff, 0xd9))])
  assert.equal(reader.badFrames, 0)
})

test('a large frame without an end marker gets one, too', () => {
  const cut = createJpeg(5, 1_000_000).subarray(0, -3)
  const { seen } = read(join(part('--b\r\nContent-Length: {length}\r\n\r\n')(cut), '--b\r\n'), [65_536])
  assert.deepEqual([seen.length, seen[0]?.length], [1, cut.length + 2])
})

test('a frame over the size limit is dropped, and so is one that never ends', () => {
  const { seen, reader } = read(join(jpegs[1]!, jpegs[0]!), [1000], { maxFrameBytes: 10_000 })
  assert.deepEqual(seen, [jpegs[0]])
  assert.ok(reader.badFrames > 0)
  const endless = new MjpegReader({ onFrame: () => assert.fail('no frame'), maxFrameBytes: 10_000 })
  endless.push(jpegs[0]!.subarray(0, 100))
  for (let i = 0; i < 1000; i++) endless.push(new Uint8Array(500).fill(7))
  assert.ok(endless.bytesSinceFrame >= 500_000)
})

test('random bytes never throw and never give a frame without start and end marker', () => {
  const marker = fc.constantFrom(...[0xc0, 0xd0, 0xd8, 0xd9, 0xda, 0xff, 0]).map((byte) => Uint8Array.of(0xff, byte))
  const begin = fc.constant(Uint8Array.of(0xff, 0xd8, 0xff, 0xda, 0, 2))
  const head = fc.nat(400).map((length) => encode(`--b\r\nContent-Length: ${length}\r\n\r\n`))
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.uint8Array({ maxLength: 90 }), marker, begin, head), { maxLength: 40 }),
      (chunks) => {
        const reader = new MjpegReader({
          onFrame: (jpeg) => {
            assert.deepEqual([...jpeg.subarray(0, 3)], [0xff, 0xd8, 0xff])
            assert.deepEqual([...jpeg.subarray(-2)], [0xff, 0xd9])
          },
          maxFrameBytes: 500,
        })
        for (const chunk of chunks) reader.push(chunk)
      },
    ),
    { numRuns: 1000 },
  )
})

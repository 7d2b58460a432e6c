import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { packetizeJpeg } from '../../../test/support/media/jpeg/packetizer.ts'
import { JpegDepacketizer, type JpegDepacketizerOptions } from './depacketizer.ts'
import { writeScanHead } from './jpeg-head.ts'
import { parseJpegHeader } from './jpeg-header.ts'
import { createQuantizers } from './jpeg-tables.ts'

type TestImage = {
  width: number
  height: number
  isHalfHeight: boolean
  restartInterval: number
  scan: Uint8Array
  q: number
}

const end = [0xff, 0xd9]

function write({ scan, q, ...head }: TestImage): Uint8Array {
  const quantizers = { bytes: createQuantizers(q), precision: 0 }
  return Uint8Array.from([...writeScanHead({ ...head, quantizers }), ...scan, ...end])
}

function open(options: JpegDepacketizerOptions = {}) {
  const seen: (string | { data: Uint8Array; timestamp: number })[] = []
  const depacketizer = new JpegDepacketizer(
    {
      onFormat: ({ codec, width, height }) => seen.push(`${codec} ${width}x${height}`),
      onFrame: (data, timestamp, isKey) => {
        assert.ok(isKey)
        seen.push({ data, timestamp })
      },
    },
    options,
  )
  const send = (payloads: readonly Uint8Array[], timestamp: number, isMarked = true) => {
    for (const [i, payload] of payloads.entries()) {
      depacketizer.push(payload, 0, payload.length, timestamp, isMarked && i === payloads.length - 1)
    }
  }
  return {
    seen,
    depacketizer,
    send,
    times: () => seen.map((item) => (typeof item === 'string' ? item : item.timestamp)),
  }
}

const testImage: fc.Arbitrary<TestImage> = fc.record({
  width: fc.integer({ min: 1, max: 255 }).map((blocks) => blocks * 8),
  height: fc.integer({ min: 1, max: 255 }).map((blocks) => blocks * 8),
  isHalfHeight: fc.boolean(),
  restartInterval: fc.constantFrom(0, 0, 1, 500),
  scan: fc.uint8Array({ minLength: 1, maxLength: 5000 }).map((bytes) => bytes.map((byte) => byte % 200)),
  q: fc.integer({ min: 1, max: 99 }),
})

test('JPEG files are read back byte for byte at any packet size, and a new size reports a new format', () => {
  fc.assert(
    fc.property(
      fc.array(testImage, { maxLength: 5 }),
      fc.integer({ min: 200, max: 1500 }),
      (images, maxPayloadBytes) => {
        const { seen, send } = open()
        const expected: unknown[] = []
        let size = ''
        for (const [i, each] of images.entries()) {
          const data = write(each)
          send(packetizeJpeg(data, maxPayloadBytes), i)
          const next = `mjpeg ${each.width}x${each.height}`
          if (next !== size) expected.push(next)
          size = next
          expected.push({ data, timestamp: i })
        }
        assert.deepEqual(seen, expected)
      },
    ),
  )
})

const sample: TestImage = {
  width: 320,
  height: 240,
  isHalfHeight: true,
  restartInterval: 0,
  scan: new Uint8Array(3000).fill(7),
  q: 60,
}

/** As sent by cameras that rely on computed tables, or on tables that were sent before. */
function withQ(payloads: readonly Uint8Array[], q: number, tables: readonly number[] = []): Uint8Array[] {
  return payloads.map((payload, i) => {
    const head = payload.slice(0, 8)
    head[5] = q
    const inBand = q < 128 ? [] : [0, 0, tables.length >> 8, tables.length & 0xff, ...tables]
    const data = payload.subarray(i === 0 ? 8 + 4 + 128 : 8)
    return Uint8Array.from([...head, ...(i === 0 ? inBand : []), ...data])
  })
}

test('a quality below 128 means computed tables; a higher one means the tables sent before with it', () => {
  const { seen, send, depacketizer } = open()
  const data = write(sample)
  const payloads = packetizeJpeg(data)
  send(withQ(payloads, 60), 0)
  send(withQ(payloads, 200), 1) // never sent
  send(withQ(payloads, 200, [...createQuantizers(60)]), 2)
  send(withQ(payloads, 200), 3)
  send(withQ(payloads, 200, [...createQuantizers(20)]), 4)
  send(withQ(payloads, 200), 5)
  const other = write({ ...sample, q: 20 })
  assert.deepEqual(seen, [
    'mjpeg 320x240',
    { data, timestamp: 0 },
    { data, timestamp: 2 },
    { data, timestamp: 3 },
    { data: other, timestamp: 4 },
    { data: other, timestamp: 5 },
  ])
  assert.equal(depacketizer.counters.badPayloads, 1)
  const { frames, droppedFrames, losses } = depacketizer.counters
  assert.deepEqual([frames, droppedFrames, losses], [6, 1, 1])
})

test('16-bit tables result in an extended sequential file', () => {
  const { seen, send } = open()
  const tables = [...createQuantizers(60)].flatMap((value) => [1, value])
  const [first, ...rest] = withQ(packetizeJpeg(write(sample)), 255, tables)
  first![8 + 1] = 0b11
  send([first!, ...rest], 0)
  const { data } = seen[1] as { data: Uint8Array }
  assert.equal(data[data.findIndex((byte, i) => byte === 0xff && data[i + 1] === 0xc1) + 1], 0xc1)
  assert.equal(parseJpegHeader(data).width, 320)
})

test('any packet loss drops exactly the affected frames', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(40), { maxLength: 8 }), (lost) => {
      const { depacketizer, times } = open()
      const whole: (string | number)[] = []
      let packet = 0
      let isGap = false
      for (let i = 0; i < 12; i++) {
        const payloads = packetizeJpeg(write(sample))
        let isWhole = true
        for (const [n, payload] of payloads.entries()) {
          if (lost.includes(packet++)) {
            isGap = true
            isWhole = false
            continue
          }
          if (isGap) depacketizer.markLoss()
          isGap = false
          depacketizer.push(payload, 0, payload.length, i, n === payloads.length - 1)
        }
        if (isWhole) whole.push(i)
      }
      assert.deepEqual(times().slice(whole.length > 0 ? 1 : 0), whole)
    }),
  )
})

test('a sender without markers loses only its last frame', () => {
  const { send, times } = open()
  for (let i = 0; i < 4; i++) send(packetizeJpeg(write(sample)), i, false)
  assert.deepEqual(times(), ['mjpeg 320x240', 0, 1, 2])
})

test('a frame that is too large for the payload header takes its size from the session description', () => {
  const large = { ...sample, width: 2592, height: 1944 }
  const { seen, send } = open({ size: { width: 2592, height: 1944 } })
  send(packetizeJpeg(write(large)), 0)
  assert.deepEqual(seen, ['mjpeg 2592x1944', { data: write(large), timestamp: 0 }])
  const unknown = open()
  unknown.send(packetizeJpeg(write(large)), 0)
  assert.deepEqual(unknown.seen, [])
})

test('the size and tables of a header extension win, for its own frame, and a size without its upper bits is completed', () => {
  const segment = (marker: number, ...bytes: number[]) => [
    0xff,
    marker,
    (bytes.length + 2) >> 8,
    bytes.length + 2,
    ...bytes,
  ]
  const large = { ...sample, width: 2592, height: 1944, q: 35 }
  const tables = createQuantizers(35)
  const size = segment(0xc0, 8, 1944 >> 8, 1944 & 0xff, 2592 >> 8, 2592 & 0xff, 3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1)
  const both = segment(0xdb, 0, ...tables.subarray(0, 64), 1, ...tables.subarray(64))
  const payloads = withQ(packetizeJpeg(write(large)), 60).map((payload) => payload.with(6, 0).with(7, 0))
  for (const extension of [
    [...both, ...size],
    [
      ...segment(0xdd, 0, 0),
      ...size,
      ...segment(0xdb, 1, ...tables.subarray(64)),
      ...segment(0xdb, 0, ...tables.subarray(0, 64)),
      0xff,
      0xff,
    ],
  ]) {
    const { seen, send, depacketizer } = open()
    for (const timestamp of [0, 1]) {
      depacketizer.takeExtension(0xffd8, Uint8Array.from(extension), 0, extension.length)
      send(payloads, timestamp)
    }
    send(payloads, 2)
    depacketizer.takeExtension(0xabac, Uint8Array.from(extension), 0, extension.length)
    send(payloads, 3)
    const data = write(large)
    assert.deepEqual(seen, ['mjpeg 2592x1944', { data, timestamp: 0 }, { data, timestamp: 1 }])
    assert.equal(depacketizer.counters.droppedFrames, 2)
  }
  const { seen, send } = open({ size: { width: 2592, height: 1944 } })
  send(
    packetizeJpeg(write(large)).map((payload) => payload.with(6, (2592 / 8) & 0xff).with(7, 1944 / 8)),
    0,
  )
  assert.deepEqual(seen, ['mjpeg 2592x1944', { data: write(large), timestamp: 0 }])
})

test('whole JPEG files in place of scan data are accepted', () => {
  const { seen, send } = open()
  const file = write({ ...sample, width: 648, height: 486 })
  send(withQ([Uint8Array.from([...packetizeJpeg(write(sample))[0]!.subarray(0, 8 + 4 + 128), ...file])], 50), 0)
  assert.deepEqual(seen, ['mjpeg 648x486', { data: file, timestamp: 0 }])
})

test('random payloads never throw, and frames stay within the size limit', () => {
  const payload = fc.tuple(
    fc.constantFrom(0, 0, 0, 1),
    fc.constantFrom(0, 1, 64, 65, 2, 200),
    fc.constantFrom(1, 50, 128, 255, 0),
    fc.uint8Array({ maxLength: 200 }),
    fc.nat(3),
    fc.boolean(),
  )
  fc.assert(
    fc.property(fc.array(payload, { maxLength: 30 }), (payloads) => {
      const { depacketizer, seen } = open({ maxFrameBytes: 1000 })
      for (const [offset, type, q, rest, timestamp, isMarked] of payloads) {
        const bytes = Uint8Array.of(0, 0, 0, offset, type, q, 5, 5, ...rest)
        depacketizer.takeExtension(0xffd8, rest, 0, rest.length)
        depacketizer.push(bytes, 0, bytes.length, timestamp, isMarked)
        depacketizer.push(rest, 0, rest.length, timestamp, isMarked)
      }
      for (const item of seen) if (typeof item !== 'string') assert.ok(item.data.length <= 1002)
    }),
    { numRuns: 1000 },
  )
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { AppError } from '../../base/error.ts'
import { writeInterleaved } from './interleaved.ts'
import { type RtspMessage, writeRtspMessage } from './message.ts'
import { RtspStreamReader } from './stream-reader.ts'

type Item = RtspMessage | { kind: 'packet'; channel: number; data: Uint8Array }

function readerInto(items: Item[], limits = {}) {
  return new RtspStreamReader(
    {
      onPacket: (channel, bytes, start, end) => items.push({ kind: 'packet', channel, data: bytes.slice(start, end) }),
      onMessage: (message) => items.push(message),
    },
    limits,
  )
}

/** Values have the prototype of object literals. */
const plainRecord = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }) => fc.record(model, { noNullPrototype: true })

const word = fc.stringMatching(/^[A-Za-z][A-Za-z0-9 =;/".-]{0,30}[A-Za-z0-9]$/)
const headers = fc.array(fc.tuple(fc.stringMatching(/^X-[A-Za-z-]{1,12}$/), word), { maxLength: 5 })
const body = fc.uint8Array({ maxLength: 300 })
const item: fc.Arbitrary<Item> = fc.oneof(
  plainRecord({
    kind: fc.constant('packet' as const),
    channel: fc.nat(255),
    data: fc.oneof(fc.uint8Array({ maxLength: 40 }), fc.uint8Array({ minLength: 1300, maxLength: 5000 })),
  }),
  plainRecord({
    kind: fc.constant('response' as const),
    status: fc.integer({ min: 100, max: 599 }),
    reason: word,
    headers,
    body,
  }),
  plainRecord({
    kind: fc.constant('request' as const),
    method: fc.constantFrom('OPTIONS', 'GET_PARAMETER'),
    url: fc.constantFrom('*', 'rtsp://camera/a?b=c'),
    headers,
    body,
  }),
)

const bytesOf = (item: Item) =>
  item.kind === 'packet' ? writeInterleaved(item.channel, item.data) : writeRtspMessage(item)

function withoutLength(item: Item): Item {
  if (item.kind === 'packet') return item
  return { ...item, headers: item.headers.filter(([name]) => name !== 'Content-Length') }
}

test('any split of the bytes gives the same items', () => {
  const cuts = fc.array(fc.integer({ min: 1, max: 3000 }), { minLength: 1, maxLength: 40 })
  fc.assert(
    fc.property(fc.array(item, { maxLength: 6 }), cuts, fc.boolean(), (items, sizes, hasBlankLines) => {
      const between = hasBlankLines ? [13, 10] : []
      const stream = Uint8Array.from(items.flatMap((item) => [...bytesOf(item), ...between]))
      const seen: Item[] = []
      const reader = readerInto(seen)
      // One buffer for all reads, as on a socket: the reader must not keep references to it.
      const shared = new Uint8Array(4096)
      for (let at = 0, i = 0; at < stream.length; i++) {
        const size = Math.min(sizes[i % sizes.length]!, stream.length - at)
        shared.fill(0xee)
        shared.set(stream.subarray(at, at + size), 7)
        reader.push(shared, 7, 7 + size)
        at += size
      }
      assert.deepEqual(seen.map(withoutLength), items)
      assert.equal(reader.keptBytes, 0)
    }),
    { numRuns: 300 },
  )
})

test('single bytes give the same items', () => {
  const items: Item[] = [
    { kind: 'response', status: 200, reason: 'OK', headers: [['CSeq', '1']], body: Uint8Array.of(0, 1, 0x24, 3) },
    { kind: 'packet', channel: 0, data: Uint8Array.of(1, 2, 3) },
    { kind: 'packet', channel: 1, data: new Uint8Array() },
  ]
  const seen: Item[] = []
  const reader = readerInto(seen)
  for (const item of items) for (const byte of bytesOf(item)) reader.push(Uint8Array.of(byte))
  assert.deepEqual(seen.map(withoutLength), items)
})

test('random bytes give items or are reported as corrupt', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 8 }), (chunks) => {
      const reader = readerInto([])
      try {
        for (const chunk of chunks) reader.push(chunk)
      } catch (error) {
        assert.ok(error instanceof AppError && error.kind === 'corrupt', String(error))
      }
    }),
    { numRuns: 500 },
  )
})

const answer: RtspMessage = {
  kind: 'response',
  status: 200,
  reason: 'OK',
  headers: [['CSeq', '1']],
  body: new Uint8Array(),
}

test('stray bytes between two items are skipped, wherever reads split, and nothing else', () => {
  // No '$': a packet that only looks like one would swallow the bytes that follow.
  const strayBytes = fc.uint8Array({ minLength: 1, maxLength: 60 }).map((bytes) => bytes.map((byte) => byte & 0xdb))
  const cut = fc.integer({ min: 1, max: 200 })
  fc.assert(
    fc.property(fc.array(strayBytes, { minLength: 1, maxLength: 4 }), cut, (gaps, size) => {
      const packet: Item = { kind: 'packet', channel: 0, data: Uint8Array.of(0x80, 96, 0, 1, 2, 3, 4, 5) }
      const seen: Item[] = []
      const reader = new RtspStreamReader({
        onPacket: (channel, bytes, start, end) => seen.push({ kind: 'packet', channel, data: bytes.slice(start, end) }),
        onMessage: (message) => seen.push(message),
        isPacket: (channel) => channel === 0,
      })
      const items = [answer, ...gaps.flatMap(() => [packet, packet, packet])]
      const parts = [
        bytesOf(answer),
        ...gaps.flatMap((gap) => [bytesOf(packet), gap, bytesOf(packet), bytesOf(packet)]),
      ]
      const stream = Uint8Array.from(parts.flatMap((part) => [...part]))
      for (let at = 0; at < stream.length; at += size) reader.push(stream.slice(at, at + size))
      assert.deepEqual(seen.map(withoutLength), items)
    }),
    { numRuns: 300 },
  )
})

test('endless stray bytes and a peer that never sends RTSP are reported as corrupt', () => {
  let skipped = 0
  const onSkipped = (bytes: number) => {
    skipped += bytes
  }
  const handler = { onPacket: () => {}, onMessage: () => {}, onSkipped }
  const reader = new RtspStreamReader(handler, { maxSkippedBytes: 1000 })
  reader.push(bytesOf(answer))
  reader.push(Uint8Array.of(1, 2, 3, 4, ...bytesOf(answer)))
  assert.equal(skipped, 4)
  assert.throws(
    () => {
      for (let i = 0; i < 30; i++) reader.push(new Uint8Array(100).fill(1))
    },
    { kind: 'corrupt' },
  )
  assert.throws(() => readerInto([]).push(Uint8Array.of(0, 1, 2)), { kind: 'corrupt' })
})

test('excess body bytes are skipped, and a body that is too short can be taken incomplete', () => {
  const encode = (text: string) => new TextEncoder().encode(text)
  const tooLong = 'RTSP/1.0 200 OK\r\nCSeq: 1\r\nContent-Length: 5\r\n\r\nv=0\r\na=more\r\nm=video\r\n'
  for (const size of [1, 3, 7, 1000]) {
    const seen: Item[] = []
    const reader = readerInto(seen)
    const stream = Uint8Array.from([...encode(tooLong), ...bytesOf(answer)])
    for (let at = 0; at < stream.length; at += size) reader.push(stream.slice(at, at + size))
    assert.equal(seen.length, 2, `reads of ${size}`)
    assert.deepEqual(seen[1], answer)
  }
  const seen: Item[] = []
  const reader = readerInto(seen)
  reader.push(encode('RTSP/1.0 200 OK\r\nCSeq: 1\r\nContent-Length: 50\r\n\r\nv=0\r\n'))
  assert.equal(seen.length, 0)
  assert.equal(reader.takeIncomplete(), true)
  assert.equal(reader.takeIncomplete(), false)
  const [message] = seen
  assert.ok(message?.kind === 'response' && new TextDecoder().decode(message.body) === 'v=0\r\n')
  reader.push(bytesOf(answer))
  assert.deepEqual(seen[1], answer)
})

test('a head or a body over the limit is rejected', () => {
  const limits = { maxHeadBytes: 100, maxBodyBytes: 10 }
  const encode = (text: string) => new TextEncoder().encode(text)
  assert.throws(() => readerInto([], limits).push(encode('A'.repeat(101))), { kind: 'corrupt' })
  const long = encode('RTSP/1.0 200 OK\r\nContent-Length: 11\r\n\r\n')
  assert.throws(() => readerInto([], limits).push(long), { kind: 'corrupt' })
  const trickle = readerInto([], limits)
  assert.throws(
    () => {
      for (;;) trickle.push(encode('A'))
    },
    { kind: 'corrupt' },
  )
})

test('an empty packet among stray bytes does not block the reader', () => {
  const items: Item[] = []
  const reader = readerInto(items)
  reader.push(writeRtspMessage({ kind: 'response', status: 200, reason: 'OK', headers: [], body: new Uint8Array() }))
  reader.push(Uint8Array.of(1, 2, 0x24, 0, 0, 0))
  reader.push(Uint8Array.of(3, 4))
  reader.push(writeInterleaved(0, Uint8Array.of(0x80, 96, 0, 1, 5)))
  assert.deepEqual(
    items.map(({ kind }) => kind),
    ['response', 'packet'],
  )
})

test('repeated false message starts end the connection', () => {
  const items: Item[] = []
  const reader = readerInto(items)
  reader.push(writeRtspMessage({ kind: 'response', status: 200, reason: 'OK', headers: [], body: new Uint8Array() }))
  const strayBytes = new TextEncoder().encode(`\u0013${'RTSP/1.'.repeat(20_000)}`)
  assert.throws(() => reader.push(strayBytes), AppError)
})

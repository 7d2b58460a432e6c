import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { AppError } from '../base/error.ts'
import { parseReply, parseRequest, writeReply, writeRequest } from './decoder-protocol.ts'
import { MessageReader } from './message-stream.ts'

const plain = { noNullPrototype: true }
const bytes = fc.uint8Array({ maxLength: 50 })
const limit = fc.option(fc.integer({ min: 1, max: 10_000 }), { nil: undefined })
const request = fc.record(
  {
    codec: fc.constantFrom('h264' as const, 'h265' as const, 'mjpeg' as const),
    config: bytes,
    data: bytes,
    sizes: fc.array(fc.record({ maxWidth: limit, maxHeight: limit }, plain), { maxLength: 5 }),
  },
  plain,
)
const cpuMs = fc.integer({ min: 0, max: 0xffff_ffff }).map((microseconds) => microseconds / 1000)
const reply = fc.oneof(
  fc.record({ cpuMs, jpegs: fc.array(bytes, { maxLength: 4 }) }, plain),
  fc.record({ cpuMs, error: fc.string() }, plain),
)

function readAll(stream: Uint8Array, chunkBytes: number): Uint8Array[] {
  const reader = new MessageReader()
  const messages: Uint8Array[] = []
  for (let at = 0; at < stream.length; at += chunkBytes)
    messages.push(...reader.push(stream.subarray(at, at + chunkBytes)))
  return messages
}

test('requests and replies are read as they were written, however the stream is split', () => {
  fc.assert(
    fc.property(
      fc.array(request, { maxLength: 4 }),
      fc.array(reply, { maxLength: 4 }),
      fc.integer({ min: 1, max: 80 }),
      (requests, replies, chunkBytes) => {
        const sent = Buffer.concat(requests.flatMap(writeRequest))
        assert.deepEqual(
          readAll(sent, chunkBytes).map((m) => {
            const { config, data, ...rest } = parseRequest(m)
            return { ...rest, config: new Uint8Array(config), data: new Uint8Array(data) }
          }),
          requests,
        )
        assert.deepEqual(readAll(Buffer.concat(replies.flatMap(writeReply)), chunkBytes).map(parseReply), replies)
      },
    ),
  )
})

test('random bytes are either parsed or reported as corrupt', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (message) => {
      for (const parse of [parseRequest, parseReply, (m: Uint8Array) => new MessageReader().push(m)]) {
        try {
          parse(message)
        } catch (error) {
          assert.ok(error instanceof AppError && error.kind === 'corrupt')
        }
      }
    }),
  )
})

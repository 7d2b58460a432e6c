import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { AppError } from '../../base/error.ts'
import { MessageReader } from '../message-stream.ts'
import { type ContainerMessage, parseContainerMessage, writeContainerMessage } from './container-protocol.ts'

const bytes = fc.uint8Array({ maxLength: 60 })
const codec = fc.stringMatching(/^[a-z0-9_]{1,32}$/)
const messages: fc.Arbitrary<ContainerMessage> = fc.oneof(
  fc.record({
    type: fc.constant('packet'),
    packet: fc.record({
      kind: fc.constantFrom('video', 'audio'),
      pts90k: fc.option(fc.maxSafeInteger(), { nil: undefined }),
      data: bytes,
    }),
  }),
  fc.record({
    type: fc.constant('tracks'),
    tracks: fc.record({
      video: fc.record({ codec, config: bytes }),
      audio: fc.option(fc.record({ codec, config: bytes, sampleRate: fc.nat(0xffffffff), channels: fc.nat(255) }), {
        nil: undefined,
      }),
    }),
  }),
  fc.record({
    type: fc.constant('end'),
    end: fc.record({ kind: fc.constantFrom('ended', 'unreadable', 'no_video', 'too_much', 'changed') }),
  }),
)

test('messages are read as they were written, however the stream is split', () => {
  fc.assert(
    fc.property(fc.array(messages, { maxLength: 5 }), fc.integer({ min: 1, max: 20 }), (sent, step) => {
      const stream = Buffer.concat(sent.map(writeContainerMessage))
      const reader = new MessageReader()
      const got: ContainerMessage[] = []
      for (let at = 0; at < stream.length; at += step) {
        for (const message of reader.push(new Uint8Array(stream.subarray(at, at + step))))
          got.push(parseContainerMessage(message))
      }
      const plain = (all: ContainerMessage[]) =>
        JSON.stringify(all, (_, value) => (value instanceof Uint8Array ? Array.from(value) : value))
      assert.equal(plain(got), plain(sent))
    }),
  )
})

test('an invalid message is reported as corrupt', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        bytes,
        messages.map((message) => writeContainerMessage(message).subarray(4, -1)),
      ),
      (message) => {
        try {
          parseContainerMessage(message)
        } catch (error) {
          assert.ok(error instanceof AppError && error.kind === 'corrupt')
        }
      },
    ),
  )
})

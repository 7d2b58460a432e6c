import assert from 'node:assert/strict'
import test from 'node:test'
import { AnswerReader } from './answer-reader.ts'

const answer = (body: string) =>
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nContent-Length: ${body.length}\r\nDate: now\r\n\r\n${body}`

test('answers are counted however they are split', () => {
  const bytes = Buffer.from(answer('{"a":1}') + answer('[]') + answer('{"text":"\\r\\n"}'))
  assert.equal(new AnswerReader().push(bytes), 3)
  for (let at = 0; at <= bytes.length; at++) {
    const reader = new AnswerReader()
    assert.equal(reader.push(bytes.subarray(0, at)) + reader.push(bytes.subarray(at)), 3, `split at ${at}`)
  }
  const reader = new AnswerReader()
  assert.equal(
    [...bytes].reduce((count, byte) => count + reader.push(Buffer.of(byte)), 0),
    3,
  )
})

test('another status ends the measurement', () => {
  assert.throws(() => new AnswerReader().push(Buffer.from('HTTP/1.1 401 Unauthorized\r\n\r\n')), /401/)
  assert.throws(() => new AnswerReader().push(Buffer.from('HTTP/1.1 200 OK\r\n\r\n')), /Content-Length/)
})

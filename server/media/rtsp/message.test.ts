import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findHeader, listHeaders, parseRtspHead, writeRtspMessage } from './message.ts'

test('a response with a repeated header keeps both values', () => {
  const message = parseRtspHead(
    'RTSP/1.0 401 Unauthorized\r\nCSeq: 2\r\nWWW-Authenticate: Digest realm="a"\r\nwww-authenticate: Basic realm="a"',
  )
  assert.equal(message.kind === 'response' && message.status, 401)
  assert.equal(findHeader(message.headers, 'cseq'), '2')
  assert.deepEqual(listHeaders(message.headers, 'WWW-Authenticate'), ['Digest realm="a"', 'Basic realm="a"'])
})

test('a missing reason, bare line feeds and folded headers are accepted', () => {
  const message = parseRtspHead('RTSP/1.0 200\nPublic: OPTIONS,\n  DESCRIBE\nA:b')
  assert.equal(message.kind === 'response' && message.reason, '')
  assert.deepEqual(message.headers, [
    ['Public', 'OPTIONS, DESCRIBE'],
    ['A', 'b'],
  ])
})

test('HTTP, header lines without a colon and empty text are reported as corrupt', () => {
  for (const text of ['HTTP/1.1 200 OK', '', 'OPTIONS * RTSP/1.0\r\nnonsense', 'options * RTSP/1.0']) {
    assert.throws(() => parseRtspHead(text), { kind: 'corrupt' }, text)
  }
})

test('a message with a body gets a Content-Length', () => {
  const body = new TextEncoder().encode('v=0\r\n')
  const bytes = writeRtspMessage({ kind: 'response', status: 200, reason: 'OK', headers: [['CSeq', '1']], body })
  assert.equal(new TextDecoder().decode(bytes), 'RTSP/1.0 200 OK\r\nCSeq: 1\r\nContent-Length: 5\r\n\r\nv=0\r\n')
})

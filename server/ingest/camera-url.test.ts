import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseCameraUrl, resolveControl } from './camera-url.ts'

test('a URL gives host, port and what is asked for, without user information', () => {
  assert.deepEqual(parseCameraUrl('rtsp://user:p%40ss@cam.lan/Streaming/Channels/101?x=1#y'), {
    host: 'cam.lan',
    port: 554,
    isTls: false,
    requestUrl: 'rtsp://cam.lan/Streaming/Channels/101?x=1',
  })
  const secure = parseCameraUrl('rtsps://[fd12::7]:8322/a')
  assert.deepEqual([secure.host, secure.port, secure.isTls], ['[fd12::7]', 8322, true])
})

test('other schemes and lines that would end the request line are refused or cleaned', () => {
  for (const text of ['http://cam/', 'rtsp://', 'cam.lan/x', 'file:///etc/passwd', 'rtsp:///x']) {
    assert.throws(() => parseCameraUrl(text), { kind: 'invalid' }, text)
  }
  assert.doesNotMatch(parseCameraUrl('rtsp://cam/a\r\nX: y z').requestUrl, /[\r\n ]/)
})

test('track URLs are joined as cameras expect', () => {
  assert.equal(resolveControl('rtsp://c/a/', 'trackID=1'), 'rtsp://c/a/trackID=1')
  assert.equal(
    resolveControl('rtsp://c/a?channel=1&subtype=0', 'trackID=1'),
    'rtsp://c/a?channel=1&subtype=0/trackID=1',
  )
  assert.equal(resolveControl('rtsp://c:554/a', '/b/track'), 'rtsp://c:554/b/track')
  assert.equal(resolveControl('rtsp://c/a', 'rtsp://10.0.0.1/x'), 'rtsp://10.0.0.1/x')
  for (const control of ['*', undefined]) assert.equal(resolveControl('rtsp://c/a', control), 'rtsp://c/a')
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseCameraUrl } from './camera-url.ts'

test('a URL is parsed to host, port and request URL without user information', () => {
  assert.deepEqual(parseCameraUrl('rtsp://user:p%40ss@cam.lan/Streaming/Channels/101?x=1#y'), {
    protocol: 'rtsp',
    host: 'cam.lan',
    port: 554,
    isTls: false,
    requestUrl: 'rtsp://cam.lan/Streaming/Channels/101?x=1',
  })
  const secure = parseCameraUrl('rtsps://[fd12::7]:8322/a')
  assert.deepEqual([secure.host, secure.port, secure.isTls], ['[fd12::7]', 8322, true])
  const mjpeg = parseCameraUrl('https://u:p@0x7f.1/axis-cgi/mjpg/video.cgi?fps=5')
  assert.deepEqual([mjpeg.protocol, mjpeg.host, mjpeg.port, mjpeg.isTls], ['http', '127.0.0.1', 443, true])
  assert.equal(mjpeg.requestUrl, 'https://127.0.0.1/axis-cgi/mjpg/video.cgi?fps=5')
})

test('other schemes are refused, and line ends are removed from the request URL', () => {
  for (const text of ['ftp://cam/', 'rtsp://', 'cam.lan/x', 'file:///etc/passwd', 'rtsp:///x']) {
    assert.throws(() => parseCameraUrl(text), { kind: 'invalid' }, text)
  }
  assert.doesNotMatch(parseCameraUrl('rtsp://cam/a\r\nX: y z').requestUrl, /[\r\n ]/)
})

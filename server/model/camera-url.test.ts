import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AppError } from '../base/error.ts'
import { guessCameraType, hideSecrets, isSameOrigin, parseCameraUrl, parseProbeUrl } from './camera-url.ts'

test('user name and password are split off and decoded', () => {
  const cases: [string, string, string | null, string | null][] = [
    ['rtsp://192.168.1.20/stream1', 'rtsp://192.168.1.20/stream1', null, null],
    [' rtsp://admin:secret@cam.lan:8554/a?b=c ', 'rtsp://cam.lan:8554/a?b=c', 'admin', 'secret'],
    ['rtsp://admin@h/', 'rtsp://h/', 'admin', ''],
    ['rtsp://admin:p%40ss%2f%23@h/', 'rtsp://h/', 'admin', 'p@ss/#'],
    ['rtsp://admin:p@ss@h/', 'rtsp://h/', 'admin', 'p@ss'],
    ['rtsp://admin:100%@h/', 'rtsp://h/', 'admin', '100%'],
    ['rtsp://admin:Pa%ss^9@h/', 'rtsp://h/', 'admin', 'Pa%ss^9'],
    ['rtsp://admin:50%@home@h/', 'rtsp://h/', 'admin', '50%@home'],
    ['rtsp://admin:P%ss;w=1@h/', 'rtsp://h/', 'admin', 'P%ss;w=1'],
    ['rtsp://admin:%e4@%@h/', 'rtsp://h/', 'admin', '%e4@%'],
    ['rtsp://[fd00::7]/v%20w', 'rtsp://[fd00::7]/v%20w', null, null],
    ['RTSPS://h', 'rtsps://h', null, null],
    ['http://root:pass@h:8080/mjpg/video.cgi?fps=5', 'http://h:8080/mjpg/video.cgi?fps=5', 'root', 'pass'],
    ['https://h/snapshot.jpg', 'https://h/snapshot.jpg', null, null],
    ['http://h/a[1]?b={c}|d^`\\&e=100%&f=%7b', 'http://h/a%5B1%5D?b=%7Bc%7D%7Cd%5E%60%5C&e=100%25&f=%7b', null, null],
    ['rtsp://h/x?', 'rtsp://h/x?', null, null],
    ['rtsp://käse_1.lan/ä', 'rtsp://k%C3%A4se_1.lan/%C3%A4', null, null],
  ]
  for (const [text, url, username, password] of cases)
    assert.deepEqual(parseCameraUrl(text), { url, username, password })
})

test('a host alone is told from a URL', () => {
  for (const [text, url, isHostAlone] of [
    ['192.168.1.20', 'rtsp://192.168.1.20', true],
    ['ada:p@ss@cam.lan:8554', 'rtsp://cam.lan:8554', true],
    ['[fd00::7]/', 'rtsp://[fd00::7]/', true],
    ['kämera.lan', 'rtsp://k%C3%A4mera.lan', true],
    ['cam.lan/stream1', 'rtsp://cam.lan/stream1', false],
    ['http://cam.lan', 'http://cam.lan/', false],
  ] as const) {
    const { username: _, password: __, ...found } = parseProbeUrl(text)
    assert.deepEqual(found, { url, isHostAlone })
  }
  for (const text of ['my camera', 'unix:/run/x.sock', 'javascript:alert(1)', 'cam.lan:x', '\u{80018}\u{b2afc}'])
    assert.throws(() => parseProbeUrl(text), { kind: 'invalid' }, text)
})

test('what cannot be a camera is refused with a reason, and without the password in it', () => {
  const cases = [
    '',
    'camera',
    '/dev/video0',
    'file:///etc/passwd',
    'ftp://h/',
    'javascript:alert(1)',
    'rtsp:///stream',
    'ws://h/video',
    'rtsp://h:0/',
    'rtsp://h/a#b',
    'rtsp://h/#',
    'rtsp://h/a b',
    'rtsp://a b/',
    'rtsp://h/a?b=c d',
    'rtsp://u:hunter2 x@h/',
    'rtsp://h:99999/',
    'http://{}/',
    'rtsp://{h}/',
    'http://"h"/',
    'http://$h/',
    'rtsp://h/a\r\nb',
    'rtsp://h/\0',
    'rtsp://u:hunter2%0a@h/',
    'rtsp://u:hunter2#@h/',
    `rtsp://h/${'x'.repeat(2048)}`,
  ]
  for (const text of cases) {
    assert.throws(
      () => parseCameraUrl(text),
      (error: AppError) => {
        assert.equal(error.kind, 'invalid', text)
        assert.ok(error.fields?.url)
        assert.ok(!error.message.includes('hunter2'))
        return true
      },
      text,
    )
  }
})

test('the type of a camera follows from the scheme of its URL', () => {
  assert.deepEqual(['rtsp://h/', 'rtsps://h/', 'http://h/', 'https://h/'].map(guessCameraType), [
    'h264',
    'h264',
    'mjpeg',
    'mjpeg',
  ])
})

test('a password in the path or the query is not shown, and not taken back hidden', () => {
  const cases: [string, string][] = [
    ['rtsp://h/stream1', 'rtsp://h/stream1'],
    ['http://h/video.cgi?user=admin&pwd=hunter2&res=1', 'http://h/video.cgi?user=admin&pwd=***&res=1'],
    ['rtsp://h/user=admin_password=hun_ter2_channel=1.sdp', 'rtsp://h/user=admin_password=***_channel=1.sdp'],
    ['rtsp://h/user=admin&password=&channel=1', 'rtsp://h/user=admin&password=&channel=1'],
    ['rtsp://h/a?PASSWORD=hunter/2', 'rtsp://h/a?PASSWORD=***'],
  ]
  for (const [url, shown] of cases) {
    assert.equal(hideSecrets(url), shown)
    if (shown.includes('***')) assert.throws(() => parseCameraUrl(shown), { kind: 'invalid' })
  }
})

test('the same place is the same scheme, host and port, also where a port is not written', () => {
  for (const [a, b] of [
    ['rtsp://h/a', 'rtsp://H:554/b?c'],
    ['https://h/a', 'https://h:443/'],
    ['rtsps://h', 'rtsps://h:322/'],
  ] as const)
    assert.ok(isSameOrigin(a, b) && isSameOrigin(b, a), `${a} ${b}`)
  for (const [a, b] of [
    ['rtsp://h/', 'http://h/'],
    ['https://h:8443/', 'http://h:8443/'],
    ['rtsps://h:554/', 'rtsp://h:554/'],
    ['rtsp://h/', 'rtsp://h:8554/'],
    ['rtsp://h/', 'rtsp://h.example/'],
  ] as const)
    assert.ok(!isSameOrigin(a, b), `${a} ${b}`)
})

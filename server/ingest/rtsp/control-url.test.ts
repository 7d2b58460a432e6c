import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { listControlUrls, resolveBase } from './control-url.ts'

test('track URLs are joined as cameras expect, then as the RFC says', () => {
  assert.deepEqual(listControlUrls('rtsp://c/a/', 'trackID=1'), ['rtsp://c/a/trackID=1'])
  assert.deepEqual(listControlUrls('rtsp://c/a', 'trackID=1'), ['rtsp://c/a/trackID=1', 'rtsp://c/trackID=1'])
  assert.deepEqual(listControlUrls('rtsp://c/a?channel=1&subtype=0', 'trackID=1'), [
    'rtsp://c/a?channel=1&subtype=0/trackID=1',
    'rtsp://c/a/trackID=1?channel=1&subtype=0',
    'rtsp://c/trackID=1',
  ])
  assert.deepEqual(listControlUrls('rtsp://c:554/a', '/b/track'), ['rtsp://c:554/b/track', 'rtsp://c:554/a/b/track'])
  assert.deepEqual(listControlUrls('rtsp://c/a?b', '?ctype=video'), [
    'rtsp://c/a?ctype=video',
    'rtsp://c/a?b/?ctype=video',
  ])
  assert.deepEqual(listControlUrls('rtsp://c/a', 'rtsp://10.0.0.1/x'), ['rtsp://10.0.0.1/x'])
  for (const control of ['*', '', undefined]) assert.deepEqual(listControlUrls('rtsp://c/a', control), ['rtsp://c/a'])
})

test('a base without its scheme or host is completed, and any other text is ignored', () => {
  const cases: [string | undefined, string][] = [
    ['rtsp://192.168.1.10/stream0/', 'rtsp://192.168.1.10/stream0/'],
    [' RTSP://c/x ', 'RTSP://c/x'],
    ['192.168.1.10:554/stream0/', 'rtsps://192.168.1.10:554/stream0/'],
    ['[fd00::1]:554/a', 'rtsps://[fd00::1]:554/a'],
    ['/stream0/', 'rtsps://cam:322/stream0/'],
    ['rtsp:///stream0/', 'rtsps://cam:322/live?x'],
    ['stream0/', 'rtsps://cam:322/live?x'],
    ['', 'rtsps://cam:322/live?x'],
    [undefined, 'rtsps://cam:322/live?x'],
  ]
  for (const [base, url] of cases) assert.equal(resolveBase(base, 'rtsps://cam:322/live?x'), url, base)
})

test('arbitrary text never throws, and there is always a candidate without duplicates', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (base, control) => {
      const urls = listControlUrls(resolveBase(base, 'rtsp://cam/live'), control)
      assert.ok(urls.length > 0 && new Set(urls).size === urls.length)
    }),
  )
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listUsualUrls } from './usual-stream-urls.ts'

test('usual addresses are at the host and port that were asked, by the same protocol', () => {
  const usual = listUsualUrls('rtsps://[fd00::1]:7441/x?y=1')
  assert.ok(usual.length > 5)
  assert.ok(usual.every(({ url, maker }) => url.startsWith('rtsps://[fd00::1]:7441/') && maker !== ''))
  assert.ok(listUsualUrls('http://cam.example/').every(({ url }) => url.startsWith('http://cam.example/')))
})

test('what was asked for is no advice', () => {
  const tried = 'rtsp://192.168.1.20/stream1'
  const urls = listUsualUrls(tried).map(({ url }) => url)
  assert.ok(!urls.includes(tried))
  assert.ok(urls.includes('rtsp://192.168.1.20/Streaming/Channels/101'))
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findReusableLogin, findUrlToAdd, withoutPassword } from './reusable-login.ts'

const typed = { url: 'x', username: 'ada', password: 'sesame' }
const login = { username: 'ada', password: 'sesame' }

test('a login is reused only for its host, whatever the protocol', () => {
  for (const to of ['rtsp://192.168.1.20/main', 'rtsp://192.168.1.20:8554/main', 'http://192.168.1.20/image.jpg'])
    assert.deepEqual(findReusableLogin(to, 'http://192.168.1.20/onvif/device_service', typed), login, to)
  assert.deepEqual(findReusableLogin('rtsp://Cam.LAN/main', 'cam.lan', typed), login)
})

test('a login is never sent to another host that a camera names', () => {
  const from = 'http://192.168.1.20/onvif/device_service'
  for (const to of [
    'rtsp://203.0.113.7/main',
    'rtsp://192.168.1.20.example/main',
    'rtsp://192.168.1.20@evil.example/',
    'x:',
  ])
    assert.deepEqual(findReusableLogin(to, from, typed), { username: '', password: '' }, to)
})

test('a URL is shown without its password, whatever characters that has', () => {
  for (const [url, shown] of [
    ['rtsp://admin:secret@192.168.1.20/stream1', 'rtsp://192.168.1.20/stream1'],
    ['rtsp://admin:se@cr/et?#x@cam.local:8554/a?b=1', 'rtsp://cam.local:8554/a?b=1'],
    ['admin:secret@192.168.1.20', '192.168.1.20'],
    ['rtsp://cam/user=admin&password=secret&channel=1', 'rtsp://cam/user=admin&password=***&channel=1'],
    ['rtsp://192.168.1.20/stream1', 'rtsp://192.168.1.20/stream1'],
  ])
    assert.equal(withoutPassword(url!), shown)
})

test('a camera is added by the URL that was typed, or that was found at the host that was typed', () => {
  const found = 'rtsp://192.168.1.20/stream1'
  for (const [typed, url] of [
    ['192.168.1.20', found],
    [' ada:se/s@me@192.168.1.20 ', 'rtsp://ada:se/s@me@192.168.1.20/stream1'],
    ['192.168.1.20/other?password=x', 'rtsp://192.168.1.20/other?password=x'],
    ['rtsp://192.168.1.20/other', 'rtsp://192.168.1.20/other'],
  ])
    assert.equal(findUrlToAdd(typed!, found), url)
})

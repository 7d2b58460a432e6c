import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loginAt } from './login-of.ts'

const typed = { url: 'x', username: 'ada', password: 'sesame' }
const login = { username: 'ada', password: 'sesame' }

test('a login stays with the host it was typed for, by whatever protocol', () => {
  for (const to of ['rtsp://192.168.1.20/main', 'rtsp://192.168.1.20:8554/main', 'http://192.168.1.20/picture.jpg'])
    assert.deepEqual(loginAt(to, 'http://192.168.1.20/onvif/device_service', typed), login, to)
  assert.deepEqual(loginAt('rtsp://Cam.LAN/main', 'cam.lan', typed), login)
})

test('no other host that a camera names is given it', () => {
  const from = 'http://192.168.1.20/onvif/device_service'
  for (const to of [
    'rtsp://203.0.113.7/main',
    'rtsp://192.168.1.20.example/main',
    'rtsp://192.168.1.20@evil.example/',
    'x:',
  ])
    assert.deepEqual(loginAt(to, from, typed), { username: '', password: '' }, to)
})

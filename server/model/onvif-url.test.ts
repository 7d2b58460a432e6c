import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '../base/error.ts'
import { parseOnvifUrl } from './onvif-url.ts'

test('a host is enough, with its port and a login or without', () => {
  const expected: readonly [text: string, url: string, username: string | null][] = [
    ['192.168.1.20', 'http://192.168.1.20/onvif/device_service', null],
    [' cam.local:8000 ', 'http://cam.local:8000/onvif/device_service', null],
    ['[fd00::1]:80', 'http://[fd00::1]/onvif/device_service', null],
    ['ada:x@192.168.1.20', 'http://192.168.1.20/onvif/device_service', 'ada'],
    ['https://cam/', 'https://cam/onvif/device_service', null],
    ['http://cam/other?x=1', 'http://cam/other?x=1', null],
  ]
  for (const [text, url, username] of expected) {
    const parsed = parseOnvifUrl(text)
    assert.deepEqual([parsed.url, parsed.username], [url, username], text)
  }
})

test('what is no such address names the field', () => {
  for (const text of ['', 'rtsp://cam/', 'a b', 'http://', 'cam#1', 'cam:0', 'file:///etc/passwd']) {
    assert.throws(
      () => parseOnvifUrl(text),
      (error) => error instanceof AppError && 'url' in (error.fields ?? {}),
      text,
    )
  }
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KnownDevices, knownDeviceTtlSeconds } from './known-devices.ts'
import { TestClock } from './test-clock.ts'

test('a device is known to the user it was given to, for a year, and unaltered', () => {
  const clock = new TestClock()
  const devices = new KnownDevices(new Uint8Array(32).fill(1), clock)
  const value = devices.create(7)
  assert.match(value, /^[\w.-]+$/)
  assert.equal(devices.isKnown(value, 7), true)
  assert.equal(devices.isKnown(value, 70), false)
  assert.equal(devices.isKnown(value.replace('7.', '70.'), 70), false)
  assert.equal(new KnownDevices(new Uint8Array(32), clock).isKnown(value, 7), false)
  for (let at = 0; at < value.length; at++) {
    const altered = value.slice(0, at) + (value[at] === '1' ? '2' : '1') + value.slice(at + 1)
    assert.equal(devices.isKnown(altered, 7), false, `character ${at}`)
  }
  for (const nonsense of [undefined, '', '7', '7.1.', '7..', `${value}x`, 'é'.repeat(50)]) {
    assert.equal(devices.isKnown(nonsense, 7), false)
  }
  clock.advance(knownDeviceTtlSeconds * 1000 - 1)
  assert.equal(devices.isKnown(value, 7), true)
  clock.advance(1)
  assert.equal(devices.isKnown(value, 7), false)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TestClock } from '../../../test/support/test-clock.ts'
import { KnownDevices, knownDeviceTtlSeconds } from './known-devices.ts'

const ada = { id: 7, credentialsVersion: 3 }

test('a known-device cookie is valid for its user, for a year, and only unmodified', () => {
  const clock = new TestClock()
  const devices = new KnownDevices(new Uint8Array(32).fill(1), clock)
  const value = devices.create(ada)
  assert.match(value, /^[\w.-]+$/)
  assert.equal(devices.isKnown(value, ada), true)
  assert.equal(devices.isKnown(value, { ...ada, id: 70 }), false)
  assert.equal(devices.isKnown(value.replace('7.', '70.'), { ...ada, id: 70 }), false)
  // The credentials of the account have changed. An attacker who knew the old ones may have this cookie.
  assert.equal(devices.isKnown(value, { ...ada, credentialsVersion: 4 }), false)
  assert.equal(devices.isKnown(value.replace('7.3.', '7.4.'), { ...ada, credentialsVersion: 4 }), false)
  assert.equal(new KnownDevices(new Uint8Array(32), clock).isKnown(value, ada), false)
  for (let at = 0; at < value.length; at++) {
    const altered = value.slice(0, at) + (value[at] === '1' ? '2' : '1') + value.slice(at + 1)
    assert.equal(devices.isKnown(altered, ada), false, `character ${at}`)
  }
  for (const nonsense of [undefined, '', '7', '7.1.', '7..', '7.3.99999999999.', `${value}x`, 'é'.repeat(50)]) {
    assert.equal(devices.isKnown(nonsense, ada), false)
  }
  clock.skip(knownDeviceTtlSeconds * 1000 - 1)
  assert.equal(devices.isKnown(value, ada), true)
  clock.skip(1)
  assert.equal(devices.isKnown(value, ada), false)
})

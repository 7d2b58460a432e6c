import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressBlock } from './address-block.ts'

test('IPv4 addresses are counted one by one, IPv6 addresses by their first 64 bits', () => {
  for (const [ip, block] of [
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:0001:0002::9', '2001:db8:1:2::/64'],
    ['2001:db8::9', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['64:ff9b::192.0.2.7', '64:ff9b:0:0::/64'],
    ['', ''],
    ['nonsense', 'nonsense'],
  ]) {
    assert.equal(addressBlock(ip!), block, ip)
  }
  assert.equal(addressBlock('2001:db8:1:2::9', 48), '2001:db8:1::/48')
  assert.equal(addressBlock('192.0.2.7', 48), '192.0.2.7')
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAddressGuard } from './address-guard.ts'

const strict = createAddressGuard({ allowLoopback: false, listOwnAddresses: () => ['192.168.1.5', 'fd00::5'] })
const open = createAddressGuard({ allowLoopback: true })

const loopbacks = [
  '127.0.0.1',
  '127.1',
  '127.255.255.254',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '017700000001',
  'localhost',
]
const refused = [
  '0',
  '0.0.0.0',
  '0.1.2.3',
  '169.254.169.254',
  '0xa9fea9fe',
  '100.100.100.200',
  '224.0.0.1',
  '239.255.255.250',
  '255.255.255.255',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::ffff:8.8.8.8]',
  '[0:0:0:0:0:ffff:a9fe:a9fe]',
  '[::ffff:0:127.0.0.1]',
  '[::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b::169.254.169.254]',
  '[64:ff9b:1::7f00:1]',
  '[2002:7f00:1::]',
  '[2001:0:7f00:1::]',
  '[fe80::1]',
  '[fe80::1%lo]',
  '[ff02::1]',
  '[fd00:ec2::254]',
]

test('every spelling of a refused address is refused, with a text that tells nothing', async () => {
  for (const host of [...loopbacks, '[::1]', '[0:0:0:0:0:0:0:1]', '192.168.1.5', '[fd00::5]', ...refused]) {
    await assert.rejects(strict.resolve(host, 554), { kind: 'invalid', message: /not allowed/ }, host)
  }
})

test('what is always refused stays so where loopback is allowed', async () => {
  for (const host of refused) await assert.rejects(open.resolve(host, 554), { kind: 'invalid' }, host)
  for (const host of loopbacks) assert.match((await open.resolve(host, 8554)).address, /^127\./, host)
  assert.deepEqual(await open.resolve('[::1]', 8554), { address: '::1', family: 6 })
})

test('cameras on the local network and in the internet are allowed', async () => {
  for (const host of [
    '192.168.1.64',
    '10.0.0.9',
    '172.16.3.4',
    '100.64.0.1',
    '203.0.113.7',
    '[fd12::7]',
    '[2a00::1]',
  ]) {
    const { address } = await strict.resolve(host, 554)
    assert.equal(address, host.replace(/[[\]]/g, ''))
  }
})

test('ports of other services are refused before anything is resolved', async () => {
  const guard = createAddressGuard({ allowLoopback: true, lookupAll: () => assert.fail('resolved') })
  for (const port of [22, 25, 6379, 27_017]) await assert.rejects(guard.resolve('10.0.0.9', port), { kind: 'invalid' })
})

test('one bad address among good ones refuses the name; IPv4 is preferred', async () => {
  const answer = (...addresses: string[]) =>
    createAddressGuard({
      allowLoopback: false,
      listOwnAddresses: () => [],
      lookupAll: async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    }).resolve('camera', 554)
  await assert.rejects(answer('203.0.113.7', '127.0.0.1'), { kind: 'invalid' })
  await assert.rejects(answer(), { kind: 'invalid' })
  assert.deepEqual(await answer('2a00::1', '203.0.113.7'), { address: '203.0.113.7', family: 4 })
})

test('an unknown name is unavailable, not invalid', async () => {
  const lookupAll = () => Promise.reject(new Error('getaddrinfo ENOTFOUND'))
  const guard = createAddressGuard({ allowLoopback: false, lookupAll })
  await assert.rejects(guard.resolve('nowhere.invalid', 554), { kind: 'unavailable', message: /"nowhere.invalid"/ })
})

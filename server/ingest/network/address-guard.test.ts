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
  '168.63.129.16',
  '192.0.0.192',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::ffff:8.8.8.8]',
  '[0:0:0:0:0:ffff:a9fe:a9fe]',
  '[::ffff:0:127.0.0.1]',
  '[::127.0.0.1]',
  '[::2]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b::169.254.169.254]',
  '[64:ff9b:1::7f00:1]',
  '[2002:7f00:1::]',
  '[2001:0:7f00:1::]',
  '[fe80::1]',
  '[fe80::1%lo]',
  '[ff02::1]',
  '[fd00:ec2::254]',
  '[fd20:ce::254]',
]

test('every spelling of a refused IP address is refused with a message that reveals nothing', async () => {
  for (const host of [
    ...loopbacks,
    '[::1]',
    '[0:0:0:0:0:0:0:1]',
    '192.168.1.5',
    '[fd00::5]',
    '[fd00:0::0:5]',
    ...refused,
  ]) {
    await assert.rejects(strict.resolve(host, 554), { kind: 'invalid', message: /not allowed/ }, host)
  }
})

test('reserved addresses stay refused when loopback is allowed', async () => {
  for (const host of refused) await assert.rejects(open.resolve(host, 554), { kind: 'invalid' }, host)
  for (const host of loopbacks) assert.match((await open.resolve(host, 8554)).address, /^127\./, host)
  assert.deepEqual(await open.resolve('[::1]', 8554), { address: '::1', family: 6, isPublic: false })
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

test('private networks can be refused except for listed ones', async () => {
  const rules = { allowLoopback: false, listOwnAddresses: () => [] }
  const none = createAddressGuard({ ...rules, allowedPrivate: [] })
  const some = createAddressGuard({
    ...rules,
    allowedPrivate: ['192.168.7.0/24', '10.1.2.3', 'fd12::/32', '0.0.0.0/0'],
  })
  const within = ['192.168.7.9', '10.1.2.3', '[fd12:0:1::7]']
  const beyond = ['[fd13::7]', '[fec0::1]']
  const others = ['192.168.8.9', '10.1.2.4', '172.31.255.255', '100.64.0.1', '198.18.0.1', '192.0.0.8', '0xac100001']
  for (const host of [...within, ...beyond, ...others])
    await assert.rejects(none.resolve(host, 554), { kind: 'invalid', message: /private or reserved/ }, host)
  for (const host of within) assert.equal((await some.resolve(host, 554)).address, host.replace(/[[\]]/g, ''))
  for (const host of beyond) await assert.rejects(some.resolve(host, 554), { kind: 'invalid' }, host)
  // Listing the network of all addresses allows only private networks.
  for (const host of ['127.0.0.1', '169.254.169.254', '0.0.0.0', '[::1]', '[fe80::1]'])
    await assert.rejects(some.resolve(host, 554), { kind: 'invalid' }, host)
  for (const guard of [none, some]) assert.equal((await guard.resolve('203.0.113.7', 554)).address, '203.0.113.7')
})

test('the server itself is refused under all of its names', async () => {
  const names: Record<string, string> = { 'cam.example.com': '203.0.113.7', 'alias.example.com': '203.0.113.7' }
  const guard = createAddressGuard({
    allowLoopback: true,
    self: { listenPort: 8443, publicHost: 'cam.example.com', publicPort: 443 },
    listOwnAddresses: () => ['192.168.1.5'],
    lookupAll: async (host) => [{ address: names[host] ?? host, family: 4 }],
  })
  const own = ['127.0.0.1:8443', '127.0.0.9:8443', '192.168.1.5:8443', '127.0.0.1:443']
  for (const endpoint of [...own, 'cam.example.com:443', 'alias.example.com:443', '203.0.113.7:443']) {
    const [host = '', port] = endpoint.split(':')
    await assert.rejects(
      guard.resolve(host, Number(port)),
      { kind: 'invalid', message: /leads to this server/ },
      endpoint,
    )
  }
  for (const [host, port] of [['cam.example.com', 554], ['127.0.0.1', 8554], ['203.0.113.8', 443]] as const) // biome-ignore format: one line
    await guard.resolve(host, port)
})

test('ports of other services are refused before the name is resolved', async () => {
  const guard = createAddressGuard({ allowLoopback: true, lookupAll: () => assert.fail('resolved') })
  for (const port of [22, 25, 6379, 27_017]) await assert.rejects(guard.resolve('10.0.0.9', port), { kind: 'invalid' })
})

test('a host that is refused as it is written is refused without a lookup, and other names pass', () => {
  const rules = { listOwnAddresses: () => ['192.168.1.5', 'fd00::5'], lookupAll: () => assert.fail('resolved') }
  const self = { listenPort: 8443, publicHost: 'Nightjar.example', publicPort: 443 }
  const strict = createAddressGuard({ ...rules, allowLoopback: false, self })
  const open = createAddressGuard({ ...rules, allowLoopback: true, self })
  for (const host of [...loopbacks, '[::1]', '192.168.1.5', '[fd00::5]', 'LOCALHOST', 'localhost.', ...refused]) {
    assert.throws(() => strict.check(host, 554), { kind: 'invalid', message: /not allowed/ }, host)
  }
  for (const host of refused) assert.throws(() => open.check(host, 554), { kind: 'invalid' }, host)
  for (const host of loopbacks) {
    open.check(host, 554)
    for (const port of [443, 8443]) assert.throws(() => open.check(host, port), { kind: 'invalid' }, `${host}:${port}`)
  }
  for (const host of ['nightjar.example', 'nightjar.EXAMPLE.'])
    assert.throws(() => open.check(host, 443), { kind: 'invalid' }, host)
  for (const guard of [strict, open]) {
    for (const port of [22, 6379]) assert.throws(() => guard.check('camera.example', port), { kind: 'invalid' })
    for (const host of [
      'camera.example',
      'nightjar.example',
      '192.168.1.64',
      '203.0.113.7',
      '[fd12::7]',
      '1.2.3.4.5',
      '%31',
    ])
      guard.check(host, 554)
  }
  const none = createAddressGuard({ ...rules, allowLoopback: false, allowedPrivate: ['10.1.2.3'] })
  none.check('10.1.2.3', 554)
  assert.throws(() => none.check('0x0a010204', 554), { kind: 'invalid', message: /private or reserved/ })
})

test('one refused address among allowed ones refuses the name, and IPv4 is preferred', async () => {
  const answer = (...addresses: string[]) =>
    createAddressGuard({
      allowLoopback: false,
      listOwnAddresses: () => [],
      lookupAll: async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    }).resolve('camera', 554)
  await assert.rejects(answer('203.0.113.7', '127.0.0.1'), { kind: 'invalid' })
  await assert.rejects(answer(), { kind: 'invalid' })
  assert.deepEqual(await answer('2a00::1', '203.0.113.7'), { address: '203.0.113.7', family: 4, isPublic: true })
})

test('an unknown name is reported as unavailable, not as invalid', async () => {
  const lookupAll = () => Promise.reject(new Error('getaddrinfo ENOTFOUND'))
  const guard = createAddressGuard({ allowLoopback: false, lookupAll })
  await assert.rejects(guard.resolve('nowhere.invalid', 554), { kind: 'unavailable', message: /"nowhere.invalid"/ })
})

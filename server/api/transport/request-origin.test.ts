// Whom the server believes about where a request came from.

import assert from 'node:assert/strict'
import http from 'node:http'
import net from 'node:net'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { openTemporaryApi, publicUrl } from '../../../test/support/api/temporary-api.ts'
import { contextOf } from './request-origin.ts'
import { isAddressOrBlock, plainAddress, TrustedProxies } from './trusted-proxies.ts'

async function openBehind(t: TestContext, { proxies, isPlain = false }: { proxies: string[]; isPlain?: boolean }) {
  const origin = { proxies: new TrustedProxies(proxies), hosts: ['Inner.example'] }
  const temporary = await openTemporaryApi(t, { origin, ...(isPlain && { identity: undefined }) })
  const { server } = temporary.api
  server.get('/whoami', async (request, reply) => reply.send(contextOf(request)))
  const send = (remoteAddress: string, headers: Record<string, string>, url = '/whoami') =>
    server.inject({ url, remoteAddress, headers })
  const ipOf = async (remoteAddress: string, headers: Record<string, string>) => {
    const response = await send(remoteAddress, headers)
    assert.equal(response.statusCode, 200, response.body)
    return response.json().ip as string
  }
  return { ...temporary, send, ipOf }
}

test('T37: what an unlisted peer says of itself is not believed', async (t) => {
  const { send, ipOf } = await openBehind(t, { proxies: ['10.0.0.0/8', '2001:db8::1'] })
  const forged = { 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'http', 'x-forwarded-host': 'evil.example' }
  assert.equal(await ipOf('192.0.2.1', forged), '192.0.2.1')
  assert.equal(await ipOf('2001:db8::2', forged), '2001:db8::2')
  assert.equal((await send('10.1.2.3', forged)).statusCode, 403)
  const { ipOf: nobodyTrusted } = await openBehind(t, { proxies: [] })
  assert.equal(await nobodyTrusted('127.0.0.1', forged), '127.0.0.1')
})

test('T37: behind listed proxies the client is the first address from the right that is none of them', async (t) => {
  const { ipOf } = await openBehind(t, { proxies: ['10.0.0.0/8', '2001:db8::1'] })
  for (const [peer, forwardedFor, client] of [
    ['10.0.0.1', '203.0.113.9', '203.0.113.9'],
    ['::ffff:10.0.0.1', '203.0.113.9', '203.0.113.9'],
    ['10.0.0.1', '198.51.100.1, 203.0.113.9', '203.0.113.9'],
    ['10.0.0.1', '198.51.100.1, 203.0.113.9, 10.9.9.9,2001:db8::1', '203.0.113.9'],
    ['2001:db8::1', '2001:db8::2', '2001:db8::2'],
    ['10.0.0.1', '[2001:db8::2]:4711', '2001:db8::2'],
    ['10.0.0.1', '203.0.113.9:80', '203.0.113.9'],
    ['10.0.0.1', 'nonsense', '10.0.0.1'],
    ['10.0.0.1', '203.0.113.9, nonsense', '10.0.0.1'],
    ['10.0.0.1', '', '10.0.0.1'],
    ['10.0.0.1', '10.0.0.2', '10.0.0.2'],
  ] as const) {
    assert.equal(await ipOf(peer, { 'x-forwarded-for': forwardedFor }), client, `${peer} <- ${forwardedFor}`)
  }
  assert.equal(await ipOf('10.0.0.1', {}), '10.0.0.1')
})

test('T37: whatever a client sends ahead, a listed proxy that appends its address is believed alone', () => {
  const proxies = new TrustedProxies(['10.0.0.0/8'])
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.ipV4(), fc.ipV6(), fc.string())), fc.nat(255), (ahead, last) => {
      const client = `203.0.113.${last}`
      assert.equal(proxies.findClient('10.0.0.1', [...ahead, client].join(', ')), client)
    }),
  )
})

test('T37: a proxy that was reached over plain HTTP is refused', async (t) => {
  const { send } = await openBehind(t, { proxies: ['10.0.0.1'] })
  assert.equal((await send('10.0.0.1', { 'x-forwarded-proto': 'https' })).statusCode, 200)
  assert.equal((await send('10.0.0.1', {})).statusCode, 200)
  for (const scheme of ['http', 'https, http', '', 'ftp']) {
    const response = await send('10.0.0.1', { 'x-forwarded-proto': scheme }, '/v1/me/')
    assert.deepEqual([response.statusCode, response.json().title], [403, 'https_required'], scheme)
    assert.equal(response.headers.location, undefined)
  }
  // People see what to do. Nothing of the request gets into the page.
  const accept = 'text/html,application/xhtml+xml'
  const browser = { 'x-forwarded-proto': 'http', host: 'nightjar.example', accept, 'accept-language': 'de-AT,de' }
  const page = await send('10.0.0.1', browser, '/cameras/1?at="><script>')
  assert.deepEqual([page.statusCode, page.headers['content-type']], [403, 'text/html; charset=utf-8'])
  assert.match(page.body, /Öffnen Sie ihn mit https:.*<a href="https:\/\/nightjar\.example\/cameras\/1\?at=[^"<>]*">/s)
  for (const host of ['a"b', 'x/y', 'a b']) {
    const response = await send('10.0.0.1', { ...browser, host })
    assert.equal(response.json().title, 'https_required', host)
  }
})

test('T37: a name that is not ours is 421; links use the configured address whatever was asked for', async (t) => {
  const { api, send, addUser, addCamera } = await openBehind(t, { proxies: ['10.0.0.1'] })
  for (const host of [
    'nightjar.example',
    'NIGHTJAR.example:8443',
    'nightjar.example.',
    'inner.example:1',
    'localhost',
    'localhost:99',
    '127.0.0.1',
    '192.0.2.77:8443',
    '[::1]',
    '[2001:db8::1]:443',
  ]) {
    assert.equal((await send('192.0.2.1', { host })).statusCode, 200, host)
  }
  for (const host of [
    'evil.example',
    'nightjar.example.evil.example',
    'nightjar.example@evil.example',
    'nightjar.example:8443:1',
    'xlocalhost',
    '1.2.3.4.evil.example',
    '[nightjar.example]',
    '2130706433',
    '[]',
    ':443',
    ' ',
    'nightjar.example/',
  ]) {
    const response = await send('192.0.2.1', { host }, '/v1/me/')
    assert.deepEqual([response.statusCode, response.json().title], [421, 'misdirected_request'], host)
    // Balancers check by names of their own.
    assert.equal((await send('192.0.2.1', { host }, '/healthz')).statusCode, 200, host)
  }
  // The token endpoint has the errors of OAuth.
  const request = { method: 'POST', url: '/oauth/token/', remoteAddress: '192.0.2.1' } as const
  const token = await api.server.inject({ ...request, headers: { host: 'evil.example' } })
  assert.deepEqual([token.statusCode, token.json().error], [421, 'invalid_request'])
  assert.match(token.json().error_description, /public-url or allowed-hosts/)
  assert.equal((await send('10.0.0.1', { host: '10.0.0.9', 'x-forwarded-host': 'nightjar.example' })).statusCode, 200)
  assert.equal(
    (await send('10.0.0.1', { host: 'nightjar.example', 'x-forwarded-host': 'evil.example' })).statusCode,
    421,
  )
  assert.equal(
    (await send('192.0.2.1', { host: 'evil.example', 'x-forwarded-host': 'nightjar.example' })).statusCode,
    421,
  )

  const { userId, authorization } = await addUser('ada@example.com')
  await addCamera(userId)
  await addCamera(userId)
  const forged = { authorization, host: 'inner.example', 'x-forwarded-host': 'inner.example', forwarded: 'host=evil' }
  const { next, results } = (await send('10.0.0.1', forged, '/v1/cameras/?limit=1')).json()
  for (const link of [next, results[0].live_snapshot]) assert.ok(link.startsWith(`${publicUrl}/`), link)
})

test('T35: behind a proxy plain HTTP answers the proxy alone, and only what reached it over HTTPS', async (t) => {
  const { api, addUser } = await openBehind(t, { proxies: ['127.0.0.1'], isPlain: true })
  const { authorization } = await addUser('ada@example.com')
  const port = await api.listen({ host: '127.0.0.1', port: 0 })
  const ask = (path: string, headers: Record<string, string>, localAddress = '127.0.0.1') =>
    new Promise<{ status: number; closes: boolean; json: Record<string, unknown> }>((resolve, reject) => {
      http
        .get({ host: '127.0.0.1', port, path, headers, localAddress, agent: false }, async (response) => {
          let text = ''
          for await (const bytes of response) text += bytes
          const closes = response.headers.connection === 'close'
          resolve({ status: response.statusCode!, closes, json: JSON.parse(text) })
        })
        .on('error', reject)
    })
  const https = { authorization, 'x-forwarded-proto': 'https' }
  const answer = await ask('/v1/me/', { ...https, 'x-forwarded-for': '203.0.113.9' })
  assert.deepEqual([answer.status, answer.json.email], [200, 'ada@example.com'])
  for (const refused of [
    await ask('/v1/me/', { authorization }),
    await ask('/v1/me/', { ...https, 'x-forwarded-proto': 'http' }),
    await ask('/v1/me/', https, '127.0.0.2'),
  ]) {
    assert.deepEqual([refused.status, refused.json.title, refused.closes], [403, 'https_required', true])
    assert.ok(!JSON.stringify(refused.json).includes('ada@'))
  }
  assert.equal((await ask('/healthz', {}, '127.0.0.2')).status, 200)
})

test('addresses and blocks', () => {
  for (const good of ['10.0.0.1', '10.0.0.0/8', '::1', '2001:db8::/32', '::/0']) assert.ok(isAddressOrBlock(good), good)
  for (const bad of ['', 'x', '10.0.0', '10.0.0.0/33', '::/129', '10.0.0.0/', '/8', '10.0.0.0/8/8', 'localhost']) {
    assert.ok(!isAddressOrBlock(bad), bad)
  }
  assert.equal(plainAddress('::ffff:192.0.2.1'), '192.0.2.1')
  assert.equal(plainAddress('2001:db8::1'), '2001:db8::1')
})

test('T18: behind a proxy too, of two Authorization or Host headers none counts', async (t) => {
  const { api, addUser } = await openBehind(t, { proxies: ['127.0.0.1'], isPlain: true })
  const { authorization } = await addUser('owner@example.com')
  const port = await api.listen({ host: '127.0.0.1', port: 0 })
  const forwarded = 'x-forwarded-for: 203.0.113.9\r\nx-forwarded-proto: https\r\nconnection: close\r\n'
  const own = `authorization: ${authorization}\r\n`
  const statusOf = async (headers: string) => {
    const socket = net.connect(port, '127.0.0.1')
    socket.write(`GET /v1/me/ HTTP/1.1\r\n${forwarded}${headers}\r\n`)
    return Number(/^HTTP\/1\.1 (\d+)/.exec(await text(socket))?.[1])
  }
  const host = 'host: inner.example\r\n'
  assert.equal(await statusOf(`${host}${own}`), 200)
  assert.equal(await statusOf(`${host}${own}authorization: Bearer x\r\n`), 401)
  assert.equal(await statusOf(`${host}authorization: Bearer x\r\n${own}`), 401)
  assert.equal(await statusOf(`${host}host: other.example\r\n${own}`), 400)
  assert.equal(await statusOf(own), 400)
  assert.equal(await statusOf(`${host}expect: foo\r\n${own}`), 417)
})

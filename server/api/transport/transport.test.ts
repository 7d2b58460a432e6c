// The one HTTPS port, over real sockets.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { type EventEmitter, once } from 'node:events'
import http2 from 'node:http2'
import https from 'node:https'
import net from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import tls from 'node:tls'
import { promisify } from 'node:util'
import { openTemporaryApi } from '../../../test/support/api/temporary-api.ts'
import { maxStallMs } from './drained.ts'
import { defaultTimeouts, type Timeouts } from './timeouts.ts'
import { TrustedProxies } from './trusted-proxies.ts'

const hurried: Timeouts = {
  handshakeMs: 400,
  headersMs: 400,
  requestMs: 400,
  idleMs: 400,
  proxyIdleMs: 400,
  stallMs: 400,
  unreadTimeoutMs: 400,
  checkIntervalMs: 50,
}

async function listen(t: TestContext, timeouts?: Timeouts) {
  const temporary = await openTemporaryApi(t, timeouts ? { timeouts } : {})
  const port = await temporary.api.listen({ host: '127.0.0.1', port: 0 })
  const trust = { ca: temporary.identity.cert, host: '127.0.0.1', port }
  return { ...temporary, port, trust }
}

/** All that a socket receives until it is closed. */
async function readAll(socket: net.Socket): Promise<string> {
  let text = ''
  socket.on('data', (bytes) => {
    text += bytes
  })
  await closed(socket)
  return text
}

/** Also of one that is reset, which `once` would take for a failure. */
function closed(emitter: EventEmitter): Promise<void> {
  emitter.on('error', () => {})
  return new Promise((resolve) => emitter.once('close', () => resolve()))
}

function getHttp1(
  options: https.RequestOptions,
): Promise<{ status: number; headers: Record<string, unknown>; body: string }> {
  return new Promise((resolve, reject) => {
    https
      .get({ agent: false, ...options }, async (response) => {
        let body = ''
        for await (const bytes of response) body += bytes
        resolve({ status: response.statusCode!, headers: response.headers, body })
      })
      .on('error', reject)
  })
}

async function getHttp2(session: http2.ClientHttp2Session, path: string, method = 'GET') {
  const stream = session.request({ ':path': path, ':method': method })
  const [headers] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders]
  let body = ''
  for await (const bytes of stream) body += bytes
  return { headers, body }
}

test('T35: plain HTTP gets 403 and is closed, with credentials or without', async (t) => {
  const { port, addUser } = await listen(t)
  const { authorization } = await addUser('owner@example.com')
  for (const request of [
    `GET /v1/me/ HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n\r\n`,
    'POST /v1/cameras/ HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n{',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'x',
  ]) {
    const socket = net.connect(port, '127.0.0.1')
    socket.write(request)
    const text = await readAll(socket)
    const [head, body] = text.split('\r\n\r\n') as [string, string]
    assert.match(head, /^HTTP\/1\.1 403 /)
    assert.match(head, /^Content-Type: application\/json\r?$/m)
    assert.match(head, /^Connection: close\r?$/m)
    assert.doesNotMatch(head, /^Location/m)
    assert.deepEqual([JSON.parse(body).status, JSON.parse(body).title], [403, 'https_required'])
    assert.ok(!text.includes('owner@example.com'))
  }
  // A person in front of a browser is told what to do.
  const socket = net.connect(port, '127.0.0.1')
  socket.write('GET /events HTTP/1.1\r\nHost: cam.example:8443\r\nAccept: text/html,*/*;q=0.8\r\n\r\n')
  const page = await readAll(socket)
  assert.match(page, /^HTTP\/1\.1 403 .*^Content-Type: text\/html; charset=utf-8\r?$/ms)
  assert.match(page, /<a href="https:\/\/cam\.example:8443\/events">/)
})

test('HTTP/1.1 and HTTP/2 answer alike, HEAD without a body', async (t) => {
  const { trust, addUser } = await listen(t)
  const { authorization } = await addUser('owner@example.com')
  const one = await getHttp1({ ...trust, path: '/v1/me/', headers: { authorization } })
  assert.equal(one.status, 200)
  assert.equal(one.headers['content-type'], 'application/json')
  const session = http2.connect(`https://127.0.0.1:${trust.port}`, { ca: trust.ca })
  const refused = await getHttp2(session, '/v1/me/')
  assert.equal(refused.headers[':status'], 401)
  assert.equal(refused.headers['www-authenticate'], 'Bearer realm="api"')
  const stream = session.request({ ':path': '/v1/me/', authorization })
  let body = ''
  for await (const bytes of stream) body += bytes
  assert.equal(body, one.body)
  const head = await getHttp2(session, '/healthz', 'HEAD')
  assert.deepEqual([head.headers[':status'], head.body], [200, ''])
  session.close()
})

test('only TLS 1.2 and 1.3 with authenticated encryption', async (t) => {
  const { trust } = await listen(t)
  const connect = async (options: tls.ConnectionOptions) => {
    const socket = tls.connect({ ...trust, ...options })
    await Promise.race([once(socket, 'secureConnect'), once(socket, 'error').then(([error]) => Promise.reject(error))])
    const { name } = socket.getCipher()
    const protocol = socket.getProtocol()
    socket.destroy()
    return `${protocol} ${name}`
  }
  assert.match(await connect({}), /^TLSv1\.3 TLS_/)
  assert.match(await connect({ maxVersion: 'TLSv1.2' }), /^TLSv1\.2 ECDHE-ECDSA-.*GCM/)
  await assert.rejects(connect({ minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' }))
  await assert.rejects(connect({ maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES256-SHA384' }))
})

test('T33: whoever is slow with handshake, headers or body is cut off', async (t) => {
  const { port, trust, addUser } = await listen(t, hurried)
  const { authorization } = await addUser('owner@example.com')
  const dribble = (socket: net.Socket, text: string) => {
    const timer = setInterval(() => socket.writable && socket.write(text), 50)
    socket.once('close', () => clearInterval(timer))
  }
  const secure = async () => {
    const socket = tls.connect(trust).on('error', () => {})
    await once(socket, 'secureConnect')
    return socket
  }
  const silent = net.connect(port, '127.0.0.1').on('error', () => {})
  const handshake = net.connect(port, '127.0.0.1').on('error', () => {})
  handshake.write(Buffer.from([22, 3, 1, 2, 0, 1]))
  dribble(handshake, '\0')
  const idle = await secure()
  const headers = await secure()
  headers.write('GET /v1/me/ HTTP/1.1\r\nHost: x\r\n')
  dribble(headers, 'X-A: b\r\n')
  const body = await secure()
  body.write(
    `POST /v1/cameras/ HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n`,
  )
  dribble(body, ' ')
  const session = http2.connect(`https://127.0.0.1:${port}`, { ca: trust.ca })
  session.on('error', () => {})
  const slow = session.request({
    ':path': '/v1/cameras/',
    ':method': 'POST',
    'content-type': 'application/json',
    authorization,
  })
  dribble(slow as unknown as net.Socket, ' ')
  slow.on('error', () => {})
  const startedMs = performance.now()
  const [headersText, bodyText, idleText] = await Promise.all([
    readAll(headers),
    readAll(body),
    readAll(idle),
    readAll(silent),
    readAll(handshake),
    closed(slow),
    closed(session),
  ])
  // By default, half a minute.
  assert.ok(performance.now() - startedMs < 30_000)
  // It would answer a request that is on its way.
  assert.equal(idleText, '')
  assert.match(headersText, /^HTTP\/1\.1 408 /)
  assert.match(bodyText, /^$|^HTTP\/1\.1 408 /)
})

test('T36: HSTS is on all responses of a server that has its host for itself, and on none where other ports may be others', async (t) => {
  for (const [publicUrl, expected] of [
    ['https://nightjar.example', 'max-age=31536000'],
    ['https://nightjar.example:8443', undefined],
  ] as const) {
    const { api, identity } = await openTemporaryApi(t, { publicUrl })
    const port = await api.listen({ host: '127.0.0.1', port: 0 })
    const trust = { ca: identity.cert, host: '127.0.0.1', port }
    for (const path of ['/v1/me/', '/openapi.json', '/nothing', '/healthz', '/metrics']) {
      const { headers } = await getHttp1({ ...trust, path })
      assert.equal(headers['strict-transport-security'], expected, path)
    }
    const misdirected = await getHttp1({
      ...trust,
      path: '/v1/me/',
      servername: 'localhost',
      headers: { host: 'evil.example' },
    })
    assert.deepEqual([misdirected.status, misdirected.headers['strict-transport-security']], [421, expected])
    const session = http2.connect(`https://127.0.0.1:${port}`, { ca: identity.cert })
    const answer = await getHttp2(session, '/v1/me/')
    assert.deepEqual([answer.headers[':status'], answer.headers['strict-transport-security']], [401, expected])
    session.destroy()
  }
})

test('a proxy is the first to close an idle connection, used or not (golang/go#54784), others are not waited for', async (t) => {
  const timeouts = { ...hurried, proxyIdleMs: 60_000 }
  const open = async (trusted: string) => {
    const origin = { proxies: new TrustedProxies([trusted]), hosts: [] }
    const { api } = await openTemporaryApi(t, { timeouts, identity: undefined, origin })
    const port = await api.listen({ host: '127.0.0.1', port: 0 })
    return () => net.connect(port, '127.0.0.1')
  }
  const ask = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n'
  const connect = await open('127.0.0.1')
  const [used, unused] = [connect(), connect()]
  used.write(ask)
  await once(used, 'data')
  // Node adds a second of its own.
  await sleep(2000)
  for (const socket of [used, unused, unused]) {
    socket.write(ask)
    const [answer] = (await once(socket, 'data')) as [Buffer]
    assert.match(String(answer), /^HTTP\/1\.1 200 /)
  }
  unused.write('GET /healthz HTTP/1.1\r\n')
  await closed(unused)
  used.destroy()

  const half = connect()
  half.write('GET /healthz HTTP/1.1\r\n')
  assert.match(await readAll(half), /^HTTP\/1\.1 408 /)
  const connectOther = await open('127.0.0.2')
  assert.equal(await readAll(connectOther()), '')
})

test('T33: by default nobody is waited for longer than half a minute', () => {
  const { checkIntervalMs, proxyIdleMs: _, ...limits } = defaultTimeouts
  for (const [name, ms] of Object.entries(limits)) assert.ok(ms > 0 && ms <= 30_000, name)
  assert.ok(limits.requestMs + checkIntervalMs <= 30_000 && limits.headersMs + checkIntervalMs <= 30_000)
  assert.ok(maxStallMs <= 30_000)
})

test('T33: huge headers are refused in the shape of every error', async (t) => {
  const { trust } = await listen(t)
  for (const request of [
    `GET /v1/me/ HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(1_000_000)}\r\n\r\n`,
    `GET /v1/me/?${'a=1&'.repeat(10_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
  ]) {
    const socket = tls.connect(trust)
    socket.write(request)
    const text = await readAll(socket)
    assert.match(text, /^HTTP\/1\.1 431 /)
    assert.equal(JSON.parse(text.split('\r\n\r\n')[1]!).status, 431)
  }
  const socket = tls.connect(trust)
  socket.write('NONSENSE\r\n\r\n')
  assert.match(await readAll(socket), /^HTTP\/1\.1 400 [\s\S]*"parse_error"/)
})

/** Everything the server says to one request, over a connection of its own. */
async function ask(trust: tls.ConnectionOptions, request: string | Buffer) {
  const socket = tls.connect({ ...trust, ALPNProtocols: ['http/1.1'] })
  socket.write(request)
  const text = await readAll(socket)
  const [head = '', body = ''] = text.split('\r\n\r\n')
  return { head, problem: JSON.parse(body) as { status: number; title: string; detail: string } }
}

test('what HTTP itself refuses is an error like every other, on every version', async (t) => {
  const { trust, addUser } = await listen(t)
  const { authorization } = await addUser('owner@example.com')
  const line = 'GET /v1/me/ HTTP/1.1\r\n'
  const rest = `authorization: ${authorization}\r\nconnection: close\r\n`
  const cases: [string | Buffer, number, string][] = [
    [`${line}${rest}\r\n`, 400, 'parse_error'],
    [`${line}Host: a\r\nHost: b\r\n${rest}\r\n`, 400, 'parse_error'],
    [`${line}Host: x\r\nExpect: foo\r\n${rest}\r\n`, 417, 'expectation_failed'],
    [`FOO /v1/me/ HTTP/1.1\r\nHost: x\r\n${rest}\r\n`, 405, 'method_not_allowed'],
    // It ended the server once: not an error of the parser, and no request of HTTP/2 either.
    [`GET /v1/me/ HTTP/2.0\r\nHost: x\r\n${rest}\r\n`, 400, 'parse_error'],
    [`GET /v1/me/ HTTP/0.9\r\nHost: x\r\n${rest}\r\n`, 400, 'parse_error'],
    [`GET /v1/me/ HTTP/2.0\r\nHost: x\r\nExpect: foo\r\n${rest}\r\n`, 400, 'parse_error'],
    [`${line}Host: x\r\nX: \0\r\n${rest}\r\n`, 400, 'parse_error'],
    [Buffer.from(`GET /v1/cameras/é/ HTTP/1.1\r\nHost: x\r\n${rest}\r\n`), 400, 'parse_error'],
    [
      `POST /v1/cameras/ HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n${rest}\r\n2\r\n{}\r\n0\r\n\r\n`,
      400,
      'parse_error',
    ],
  ]
  for (const [request, status, title] of cases) {
    const { head, problem } = await ask(trust, request)
    assert.match(head, new RegExp(`^HTTP/1\\.1 ${status} `), String(request))
    assert.match(head, /^content-type: application\/json\r?$/im)
    assert.match(head, /^access-control-allow-origin: \*\r?$/im)
    assert.match(head, /^access-control-expose-headers: /im)
    assert.deepEqual([problem.status, problem.title], [status, title])
    assert.doesNotMatch(problem.detail, /not HTTP/)
    if (status === 405) assert.match(head, /^allow: GET, HEAD, POST, PUT, DELETE, OPTIONS\r?$/im)
  }

  const session = http2.connect(`https://127.0.0.1:${trust.port}`, { ca: trust.ca })
  const one = await ask(trust, `FOO /v1/me/ HTTP/1.1\r\nHost: x\r\n${rest}\r\n`)
  const foo = session.request({ ':path': '/v1/me/', ':method': 'FOO', authorization })
  let body = ''
  for await (const bytes of foo) body += bytes
  assert.deepEqual(JSON.parse(body), one.problem)
  const expecting = session.request({ ':path': '/v1/me/', expect: 'foo', authorization })
  const [headers] = (await once(expecting, 'response')) as [http2.IncomingHttpHeaders]
  assert.equal(headers[':status'], 417)
  expecting.resume()
  session.close()
})

// nodejs/node#12339, honojs/node-server#327: the connection was reset, and the response lost.
test('a client that is still sending a body hears why it is refused, and what it sends after that counts for nothing', async (t) => {
  const { trust, addUser } = await listen(t)
  const line = (method: string, path: string) =>
    `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`
  const head = `${line('POST', '/v1/cameras/')}Connection: close\r\n`
  // In a process of its own, because here the client would have read the response before it is reset.
  const client = `
    const [options, head] = JSON.parse(process.argv[1])
    let answered = 0
    for (let i = 0; i < 20; i++) {
      const socket = require('node:tls').connect(options)
      socket.on('error', () => {})
      socket.once('data', (bytes) => { answered += bytes.includes('not_authenticated') })
      socket.once('secureConnect', () => { socket.write(head); socket.write(Buffer.alloc(1e6, ' ')) })
    }
    process.once('exit', () => console.log(answered))`
  for (const length of ['Content-Length: 1000000\r\n\r\n', 'Transfer-Encoding: chunked\r\n\r\nf4240\r\n']) {
    const told = JSON.stringify([{ ...trust, ALPNProtocols: ['http/1.1'] }, head + length])
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', client, told])
    // A few less if the machine stands still for as long as the server lingers; 2 or 3 before.
    assert.ok(Number(stdout) >= 10, stdout)
  }

  const { authorization } = await addUser('owner@example.com')
  const change = (name: string) => {
    const body = JSON.stringify({ first_name: name })
    return `${line('PUT', '/v1/me/')}Authorization: ${authorization}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  }
  const read = async () => (await getHttp1({ ...trust, path: '/v1/me/', headers: { authorization } })).body
  const socket = tls.connect({ ...trust, ALPNProtocols: ['http/1.1'] })
  let received = ''
  socket.on('data', (bytes) => {
    received += bytes
  })
  const gone = closed(socket)
  socket.write(`${change('First')}${line('POST', '/v1/cameras/')}Expect: x\r\nContent-Length: 10\r\n\r\n12345`)
  while (!received.includes('expectation_failed')) await once(socket, 'data')
  socket.write(`67890${change('Late')}`)
  await gone
  assert.deepEqual(received.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 200', 'HTTP/1.1 417'])
  assert.match(await read(), /"First"/)

  // One that goes on for ever is cut off.
  const endless = tls.connect({ ...trust, ALPNProtocols: ['http/1.1'], allowHalfOpen: true } as tls.ConnectionOptions)
  const cut = closed(endless)
  endless.write(`${head}Content-Length: 1000000\r\n\r\n`)
  const timer = setInterval(() => endless.writable && endless.write(' '), 20)
  endless.resume()
  await cut
  clearInterval(timer)
})

test('T18: of two Authorization headers none counts, in both versions', async (t) => {
  const { trust, addUser } = await listen(t)
  const { authorization } = await addUser('owner@example.com')
  for (const other of ['Bearer x', authorization]) {
    const { problem } = await ask(
      trust,
      `GET /v1/me/ HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\nAuthorization: ${other}\r\nConnection: close\r\n\r\n`,
    )
    assert.deepEqual([problem.status, problem.title], [401, 'not_authenticated'])
  }
  const session = http2.connect(`https://127.0.0.1:${trust.port}`, {
    ca: trust.ca,
    // Of Node 24, and not of its types yet.
    ...({ strictSingleValueFields: false } as object),
  })
  const raw = [':method', 'GET', ':path', '/v1/me/', ':scheme', 'https', ':authority', 'localhost']
  for (const [extra, status] of [
    [[], 200],
    [['authorization', 'Bearer x'], 401],
  ] as const) {
    const stream = session.request([...raw, 'authorization', authorization, ...extra])
    const [headers] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders]
    assert.equal(headers[':status'], status)
    stream.resume()
  }
  session.close()
})

test('T37: a target that names a host is for that host alone, and nothing else is said about it', async (t) => {
  const { trust, addUser } = await listen(t)
  const { authorization } = await addUser('owner@example.com')
  const send = async (target: string, host = 'localhost') => {
    const answer = await ask(
      trust,
      `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: ${authorization}\r\nConnection: close\r\n\r\n`,
    )
    return answer.problem.title ?? (answer.problem as { email?: string }).email
  }
  for (const origin of [
    'http://evil.example',
    'https://evil.example:8443',
    'HTTPS://evil.example',
    'ftp://localhost',
  ]) {
    for (const path of ['/v1/me/', '/openapi.json', '']) {
      assert.equal(await send(`${origin}${path}`), 'misdirected_request', `${origin}${path}`)
    }
  }
  assert.equal(await send('https://localhost@evil.example/v1/me/'), 'misdirected_request')
  for (const origin of ['https://localhost', `https://127.0.0.1:${trust.port}`, 'HTTP://LOCALHOST']) {
    assert.equal(await send(`${origin}/v1/me/`), 'owner@example.com', origin)
  }
  // RFC 9112 section 3.2.2: the header does not count then.
  assert.equal(await send('https://localhost/v1/me/', 'evil.example'), 'owner@example.com')
  assert.equal(await send('https://localhost/nothing'), 'not_found')
})

test('T33: a small answer of HTTP/2 that is not taken is cut off, and its connection with it', async (t) => {
  const { trust } = await listen(t, { ...hurried, stallMs: 60_000, idleMs: 60_000 })
  const session = http2.connect(`https://127.0.0.1:${trust.port}`, { ca: trust.ca, settings: { initialWindowSize: 0 } })
  const gone = closed(session)
  await once(session, 'remoteSettings')
  const stream = session.request({ ':path': '/nothing' })
  const [headers] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders]
  assert.equal(headers[':status'], 404)
  await Promise.all([closed(stream), gone])
})

test('T33: a body that stops half-way is told so, like a slow one', async (t) => {
  const { trust, addUser } = await listen(t, { ...hurried, stallMs: 3_000 })
  const { authorization } = await addUser('owner@example.com')
  for (const credentials of ['', `Authorization: ${authorization}\r\n`]) {
    const { problem } = await ask(
      trust,
      `POST /v1/cameras/ HTTP/1.1\r\nHost: localhost\r\n${credentials}Content-Type: application/json\r\nContent-Length: 5000\r\n\r\n{`,
    )
    assert.equal(problem.status, credentials === '' ? 401 : 408)
  }
})

test('a request that nobody answers is told so, in both versions', async (t) => {
  const { api, identity } = await openTemporaryApi(t, { timeouts: { ...defaultTimeouts, stallMs: 400 } })
  // Its answer comes too late.
  api.server.get('/slow', () => sleep(600, {}))
  const trust = { ca: identity.cert, host: '127.0.0.1', port: await api.listen({ host: '127.0.0.1', port: 0 }) }
  const one = await getHttp1({ ...trust, path: '/slow' })
  assert.deepEqual([one.status, one.headers['retry-after'], one.headers.connection], [503, '5', 'close'])
  const session = http2.connect(`https://127.0.0.1:${trust.port}`, { ca: trust.ca })
  const other = await getHttp2(session, '/slow')
  assert.deepEqual([other.headers[':status'], other.headers['retry-after'], other.body], [503, '5', one.body])
  assert.equal(JSON.parse(one.body).title, 'unavailable')
  await sleep(400)
  assert.equal((await getHttp2(session, '/healthz')).headers[':status'], 200)
  session.close()
})

test('closing ends every connection', async (t) => {
  const { api, trust } = await listen(t)
  const idle = tls.connect(trust)
  await once(idle, 'secureConnect')
  const half = tls.connect(trust)
  half.write('GET /v1/me/ HTTP/1.1\r\n')
  const session = http2.connect(`https://127.0.0.1:${trust.port}`, { ca: trust.ca })
  await getHttp2(session, '/healthz')
  await Promise.all([api.close(), readAll(idle), readAll(half), once(session, 'close')])
})

test('the certificate fits the names and is an EC one of 397 days', async (t) => {
  const { identity } = await listen(t)
  const certificate = new X509Certificate(identity.cert)
  assert.ok(certificate.checkHost('localhost') && certificate.checkIP('127.0.0.1') && certificate.checkIP('::1'))
  assert.equal(certificate.publicKey.asymmetricKeyDetails?.namedCurve, 'prime256v1')
  const days = (certificate.validToDate.getTime() - certificate.validFromDate.getTime()) / 86_400_000
  assert.equal(Math.round(days), 397)
  assert.equal(certificate.ca, false)
})

// Two ends of the connection between servers: who is let in, what is handed on, and what an end that is silent, gone or
// somebody else does.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { connect } from 'node:tls'
import fc from 'fast-check'
import Fastify, { type FastifyInstance } from 'fastify'
import { findFreePort } from '../../base/free-port.ts'
import { silentLogger } from '../../base/log.ts'
import { parsePeerAddress, writePeerAddress } from '../../model/peer-address.ts'
import { MultipartSplice, mjpegContentType, writeMultipart } from '../media/multipart.ts'
import { Forwarder, type ForwarderOptions } from './forwarder.ts'
import { makePeerIdentity } from './peer-identity.ts'
import { PeerPort } from './peer-port.ts'

const key = randomBytes(32)
const log = silentLogger

type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** The server with the cameras, called n1. */
async function openPeer(t: TestContext, answer: Answer, { name = 'n1', secret = key } = {}) {
  const address = { host: '127.0.0.1', port: await findFreePort('127.0.0.1') }
  const port = new PeerPort({ address, identity: await makePeerIdentity(secret, name), log })
  port.server.on('request', answer)
  await port.listen()
  t.after(() => port[Symbol.asyncDispose]())
  return { address, port }
}

/** A server that hands everything on to n1 at this port. */
async function openAsking(
  t: TestContext,
  port: number,
  { secret = key, ...others }: { readonly secret?: Uint8Array } & Partial<ForwarderOptions> = {},
): Promise<FastifyInstance> {
  const forwarder = new Forwarder({
    findServer: () => ({ name: 'n1', address: { host: '127.0.0.1', port } }),
    findEpoch: () => undefined,
    identity: await makePeerIdentity(secret, 'n2'),
    log,
    ...others,
  })
  const app = Fastify()
  app.decorateRequest('clientIp', '198.51.100.7')
  app.decorateRequest('contentType', '')
  app.addHook('onRequest', async (request) => {
    request.contentType = request.headers['content-type'] ?? ''
  })
  app.setErrorHandler((error: { kind?: string }, _request, reply) => reply.code(503).send({ kind: error.kind }))
  app.route({
    method: ['GET', 'POST', 'DELETE'],
    url: '/*',
    onRequest: (request, reply) => forwarder.forward(request, reply),
    handler: () => {},
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  t.after(async () => {
    forwarder[Symbol.dispose]()
    await app.close()
  })
  return app
}

const urlOf = (app: FastifyInstance) => `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`

test('addresses are a host and a port', () => {
  for (const text of ['n1.internal:8444', '10.0.0.1:1', '[fd00::1]:65535'])
    assert.equal(writePeerAddress(parsePeerAddress(text)!), text)
  for (const text of ['', 'n1', ':1', 'n1:', 'n1:0', 'n1:65536', 'fd00::1:8444', '[n1]:1', 'n1:1/', 'https://n1:1'])
    assert.equal(parsePeerAddress(text), undefined, text)
})

test('method, path, headers and body arrive as they came, and so does the answer', async (t) => {
  const { address } = await openPeer(t, async (request, response) => {
    const { method, url, headers } = request
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    response.writeHead(207, { 'content-type': 'text/plain', 'x-kept': 'yes', 'keep-alive': 'timeout=9' })
    response.end(JSON.stringify({ method, url, headers, body: Buffer.concat(chunks).toString('latin1') }))
  })
  const app = await openAsking(t, address.port)
  const response = await fetch(`${urlOf(app)}/v1/a%2Fb?c=d`, {
    method: 'POST',
    headers: {
      authorization: 'Bearer x',
      'content-type': 'application/json',
      'x-forwarded-for': '203.0.113.9',
      te: 'trailers',
    },
    body: '{"é":1}',
  })
  assert.deepEqual([response.status, response.headers.get('x-kept')], [207, 'yes'])
  const { method, url, headers, body } = (await response.json()) as { [name: string]: string } & {
    headers: { [name: string]: string }
  }
  assert.deepEqual([method, url, Buffer.from(body!, 'latin1').toString()], ['POST', '/v1/a%2Fb?c=d', '{"é":1}'])
  const { authorization, 'content-type': type, te, 'x-forwarded-for': client, 'x-forwarded-proto': scheme } = headers
  assert.deepEqual(
    [authorization, type, te, client, scheme],
    ['Bearer x', 'application/json', undefined, '198.51.100.7', 'https'],
  )
})

test('a client that leaves ends the request at the other server', async (t) => {
  const left = Promise.withResolvers<void>()
  const { address } = await openPeer(t, (_request, response) => {
    response.once('close', left.resolve)
    response.writeHead(200).write('one')
  })
  const app = await openAsking(t, address.port)
  const leaving = new AbortController()
  const response = await fetch(urlOf(app), { signal: leaving.signal })
  await response.body!.getReader().read()
  leaving.abort()
  await left.promise
})

test('a connection that was closed while it was idle is made anew', async (t) => {
  const { address, port } = await openPeer(t, (_request, response) => response.end('yes'))
  const app = await openAsking(t, address.port)
  for (let i = 0; i < 5; i++) {
    assert.equal(await (await fetch(urlOf(app))).text(), 'yes')
    port.server.closeIdleConnections()
  }
})

test('who is nobody, of another installation, or another server than meant, is not asked and gets nothing', async (t) => {
  const asked: string[] = []
  const answer: Answer = (request, response) => {
    asked.push(request.url!)
    response.end('secret')
  }
  const { address } = await openPeer(t, answer)
  // Without a certificate, and with one of another secret.
  const stranger = await makePeerIdentity(randomBytes(32), 'n2')
  for (const identity of [{}, stranger]) {
    const socket = connect({ ...address, ...identity, rejectUnauthorized: false })
    const received: Buffer[] = []
    socket.on('data', (chunk: Buffer) => received.push(chunk))
    socket.on('error', () => {})
    socket.write('GET / HTTP/1.1\r\nhost: n1\r\n\r\n')
    await new Promise((resolve) => socket.once('close', resolve))
    assert.equal(Buffer.concat(received).length, 0)
  }
  assert.equal((await fetch(urlOf(await openAsking(t, address.port, { secret: randomBytes(32) })))).status, 503)
  const other = await openPeer(t, answer, { name: 'n3' })
  assert.equal((await fetch(urlOf(await openAsking(t, other.address.port)))).status, 503)
  assert.deepEqual(asked, [])
})

test('bytes that are no TLS, half an answer, an end, and nothing are 503 or end the answer', async (t) => {
  const listen = async (onSocket: (socket: Socket) => void): Promise<Server> => {
    const server = createServer((socket) => {
      socket.on('error', () => {})
      onSocket(socket)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => server.close())
    return server
  }
  const kinds = [
    (socket: Socket) => void socket.write(randomBytes(500)),
    (socket: Socket) => void socket.destroy(),
    // A connection that is taken, and no more: given up after three seconds.
    (socket: Socket) => void t.after(() => socket.destroy()),
  ]
  const answers = kinds.map(async (kind) => {
    const { port } = (await listen(kind)).address() as AddressInfo
    const response = await fetch(urlOf(await openAsking(t, port)))
    assert.deepEqual([response.status, await response.json()], [503, { kind: 'unavailable' }])
  })
  const { address } = await openPeer(t, (_request, response) => {
    response.writeHead(200, { 'content-length': 100 }).write('half')
    setTimeout(() => response.destroy(), 50)
  })
  const half = await fetch(urlOf(await openAsking(t, address.port)))
  await assert.rejects(half.text())
  await Promise.all(answers)
})

test('of two servers that are silent, the one that is gone is given up, and the other is waited for', async (t) => {
  const asked = { gone: Promise.withResolvers<void>(), slow: Promise.withResolvers<ServerResponse>() }
  const gone = await openPeer(t, () => asked.gone.resolve())
  const answerSlowly: Answer = ({ url }, response) => {
    if (url === '/slow') asked.slow.resolve(response)
    else response.end()
  }
  const slow = await openPeer(t, answerSlowly, { name: 'n3' })
  t.mock.timers.enable({ apis: ['setInterval'] })
  const servers = [
    { name: 'n1', address: gone.address },
    { name: 'n3', address: slow.address },
  ]
  const url = urlOf(await openAsking(t, 0, { findServer: () => servers.shift()! }))
  const given = fetch(`${url}/gone`)
  await asked.gone.promise
  const waited = fetch(`${url}/slow`)
  const late = await asked.slow.promise
  gone.port.server.close()
  t.mock.timers.tick(20_000)
  assert.equal((await given).status, 503)
  late.end('late')
  assert.equal(await (await waited).text(), 'late')
})

test('images go on from the server that has the camera then, wherever those of the one before broke off', async (t) => {
  const images = ['one', 'two', 'three'].map((text) => Buffer.from(text.repeat(2000)))
  const whole = Buffer.concat(await Array.fromAsync(writeMultipart(Readable.from(images))))
  const brokenOff = Promise.withResolvers<void>()
  const breakingOff: Answer = (_, response) => {
    response.writeHead(200, { 'content-type': mjpegContentType })
    response.write(whole.subarray(0, whole.length - 3000), () => {
      setTimeout(() => {
        response.destroy()
        brokenOff.resolve()
      }, 50)
    })
  }
  const ending: Answer = (_, response) => {
    response.writeHead(200, { 'content-type': mjpegContentType })
    response.end(whole)
  }
  const first = await openPeer(t, breakingOff)
  const second = await openPeer(t, ending, { name: 'n3' })
  let server = { name: 'n1', address: first.address }
  let epoch = 1
  const app = await openAsking(t, 0, { findServer: () => server, findEpoch: () => epoch })
  const response = await fetch(`${urlOf(app)}/media/cameras/7/live.mjpeg`)
  assert.equal(response.headers.get('content-type'), mjpegContentType)
  void brokenOff.promise.then(() => {
    server = { name: 'n3', address: second.address }
    epoch++
  })
  const reader = response.body!.getReader()
  const received: Uint8Array[] = []
  // The third image of the first server has lost its end; the others are whole.
  const wanted = 2 * whole.length - '--nightjar-frame\r\n'.length
  while (received.reduce((sum, { length }) => sum + length, 0) < wanted) received.push((await reader.read()).value!)
  await reader.cancel()
  const parts = readParts(Buffer.concat(received))
  assert.deepEqual(
    parts.map((image) => [image.length, image.subarray(0, 3).toString(), image.at(-1)]),
    [...images, ...images].map((image, i) => [
      image.length,
      image.subarray(0, 3).toString(),
      i === 2 ? 0 : image.at(-1),
    ]),
  )
})

/** As a client that believes the lengths. */
function readParts(bytes: Buffer): Buffer[] {
  const boundary = '--nightjar-frame\r\n'
  const parts: Buffer[] = []
  let at = 0
  for (;;) {
    assert.equal(bytes.toString('latin1', at, at + boundary.length), boundary)
    at += boundary.length
    if (at === bytes.length) return parts
    const end = bytes.indexOf('\r\n\r\n', at) + 4
    const length = Number(/Content-Length: (\d+)/.exec(bytes.toString('latin1', at, end))![1])
    parts.push(bytes.subarray(end, end + length))
    at = end + length + 2
  }
}

test('streams of images that are cut anywhere, and come in chunks of any size, are one stream', () => {
  const image = fc.uint8Array({ minLength: 1, maxLength: 200 })
  const cut = fc.record({ images: fc.array(image, { maxLength: 4 }), keep: fc.double({ min: 0, max: 1, noNaN: true }) })
  const sizes = fc.array(fc.integer({ min: 1, max: 70 }), { minLength: 1, maxLength: 20 })
  return fc.assert(
    fc.asyncProperty(fc.array(cut, { minLength: 1, maxLength: 4 }), sizes, async (streams, sizes) => {
      const splice = new MultipartSplice()
      const sent: Uint8Array[] = []
      let i = 0
      for (const { images, keep } of streams) {
        const whole = Buffer.concat(await Array.fromAsync(writeMultipart(Readable.from(images))))
        let rest = whole.subarray(0, Math.round(keep * whole.length))
        while (rest.length > 0) {
          const size = sizes[i++ % sizes.length]!
          sent.push(...splice.take(rest.subarray(0, size)))
          rest = rest.subarray(size)
        }
        sent.push(splice.end())
      }
      const bytes = Buffer.concat(sent)
      if (bytes.length === 0) return
      const known = new Set(streams.flatMap(({ images }) => images.map((each) => each.length)))
      for (const part of readParts(bytes)) assert.ok(known.has(part.length))
    }),
  )
})

// Clients without an account send requests and do not read the responses. They must neither use much memory nor last
// longer than half a minute.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { type ClientHttp2Session, connect as connectHttp2, constants } from 'node:http2'
import { connect as connectTcp } from 'node:net'
import { test } from 'node:test'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { eventually, openServer, openServerWith, type ServerProcess } from '../server-under-test.ts'

/** Half a minute after the last byte was read, plus a margin for a busy machine. */
const cutMs = 45_000

/** Resident memory of the server. */
function readMegabytes({ pid }: ServerProcess): number {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!
  return Number(kilobytes) / 1024
}

async function countConnections(server: ServerProcess): Promise<number> {
  const { text } = await server.request('/metrics', { authorization: null })
  return Number(/^nightjar_connections (\d+)$/m.exec(text)![1]) - 1 // this one
}

function openTls(
  { url, ca }: Pick<ServerProcess, 'url' | 'ca'>,
  { localAddress = '127.0.0.1', protocol = 'http/1.1' } = {},
): TLSSocket {
  const socket = connectTcp({ host: '127.0.0.1', port: Number(new URL(url).port), localAddress })
  socket.on('error', () => {})
  const secure = connectTls({ socket, ca, servername: 'localhost', ALPNProtocols: [protocol] })
  return secure.on('error', () => {})
}

/** An HTTP/2 client that reads the headers of responses but not their bodies. */
async function openClosedWindow({ url, ca }: ServerProcess, localAddress: string): Promise<ClientHttp2Session> {
  const createConnection = () => openTls({ url, ca }, { localAddress, protocol: 'h2' })
  const session = connectHttp2(url, { createConnection, settings: { initialWindowSize: 0 } })
  session.on('error', () => {})
  await new Promise((resolve) => {
    session.once('remoteSettings', resolve)
    session.once('close', resolve)
  })
  return session
}

type Outcome = { answered: number; refused: number; closed: number; sent: number }

async function ask(session: ClientHttp2Session, path: string, count: number, outcome: Outcome): Promise<void> {
  for (let i = 0; i < count && !session.closed; i++) {
    outcome.sent++
    const stream = session.request({ ':path': path, 'accept-encoding': 'identity' })
    stream.on('error', () => {})
    stream.on('response', () => outcome.answered++)
    stream.on('close', () => {
      outcome.closed++
      if (stream.rstCode === constants.NGHTTP2_REFUSED_STREAM) outcome.refused++
    })
  }
}

test('T33: large responses that clients do not read share one copy in memory and are aborted', async () => {
  await using server = await openServer('--rate-limit', '0')
  assert.equal((await server.request('/docs/', { authorization: null })).status, 200)
  const before = readMegabytes(server)
  const outcome = { answered: 0, refused: 0, closed: 0, sent: 0 }
  const sessions = await Promise.all(Array.from({ length: 4 }, () => openClosedWindow(server, '127.0.0.2')))
  for (const session of sessions) await ask(session, '/docs/', 100, outcome)
  await eventually('every request has a response', 60_000, async () => outcome.answered + outcome.refused === 400)
  assert.ok(outcome.answered >= 300)
  const grown = readMegabytes(server) - before
  assert.ok(grown < 100, `400 answers that nobody takes cost ${grown.toFixed(0)} MB`)
  await eventually('all connections are closed', cutMs, async () => outcome.closed === 400)
  await eventually(
    'the server has closed their connections too',
    15_000,
    async () => (await countConnections(server)) === 0,
  )
})

test('T33: thousands of small responses that clients do not read are limited, do not affect others and are aborted', async () => {
  // Makes the runtime collect the garbage of refused requests as on a small machine.
  const small = { NODE_OPTIONS: '--max-old-space-size=192 --max-semi-space-size=8' }
  await using server = await openServerWith(small, '--rate-limit', '0')
  const before = readMegabytes(server)
  const outcome = { answered: 0, refused: 0, closed: 0, sent: 0 }
  const sessions = await Promise.all(Array.from({ length: 100 }, () => openClosedWindow(server, '127.0.0.2')))
  for (let round = 0; round < 10; round++)
    for (const session of sessions) await ask(session, '/no-such-page', 20, outcome)
  const sent = outcome.sent
  await eventually('some requests have a response', 60_000, async () => outcome.answered + outcome.refused >= 10_000)
  assert.equal((await server.request('/v1/me/')).status, 200)
  assert.ok(outcome.answered <= 2500, `${outcome.answered} of ${sent} were answered`)
  const grown = readMegabytes(server) - before
  assert.ok(grown < 300, `they cost ${grown.toFixed(0)} MB`)
  await eventually('all connections are closed', cutMs, async () => outcome.closed === sent)
  await eventually(
    'the server has closed their connections too',
    15_000,
    async () => (await countConnections(server)) === 0,
  )
  const again = await openClosedWindow(server, '127.0.0.2')
  const later = { answered: 0, refused: 0, closed: 0, sent: 0 }
  await ask(again, '/no-such-page', 1, later)
  await eventually('requests get responses again', 10_000, async () => later.answered === 1)
  again.destroy()
})

test('T33: an HTTP/1.1 connection whose responses are not read is closed', async () => {
  await using server = await openServer('--rate-limit', '0')
  const socket = openTls(server)
  await new Promise((resolve) => socket.once('secureConnect', resolve))
  const before = readMegabytes(server)
  // More than the socket buffers of both sides can hold.
  socket.pause()
  socket.write('GET /docs/ HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(30))
  await new Promise((resolve) => setTimeout(resolve, 3000))
  assert.equal(await countConnections(server), 1)
  const grown = readMegabytes(server) - before
  assert.ok(grown < 100, `it costs ${grown.toFixed(0)} MB`)
  await eventually('it is closed', cutMs, async () => (await countConnections(server)) === 0)
  socket.destroy()
})

test('the connections of one IP address are limited, and other addresses can connect', async () => {
  await using server = await openServer('--rate-limit', '0')
  const sockets = Array.from({ length: 2200 }, () => openTls(server, { localAddress: '127.0.0.2' }))
  let closed = 0
  for (const socket of sockets) socket.on('close', () => closed++)
  await eventually('connections above the limit are closed', 60_000, async () => closed >= 150)
  assert.equal((await server.request('/v1/me/')).status, 200)
  assert.ok((await countConnections(server)) <= 2048)
  for (const socket of sockets) socket.destroy()
})

test('a connection that sends thousands of requests without reading a response is closed', async () => {
  await using server = await openServer('--rate-limit', '0')
  const before = readMegabytes(server)
  const sockets = await Promise.all(
    Array.from({ length: 40 }, async () => {
      const socket = openTls(server)
      await new Promise((resolve) => socket.once('secureConnect', resolve))
      return socket.pause()
    }),
  )
  for (const socket of sockets) {
    socket.write('GET /docs/ HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(10))
    socket.write('GET /x HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(100_000))
  }
  await eventually('all are closed', 30_000, async () => (await countConnections(server)) === 0)
  const grown = readMegabytes(server) - before
  // 100 to 200 MB were measured on different machines.
  assert.ok(grown < 300, `they cost ${grown.toFixed(0)} MB`)
  for (const socket of sockets) socket.destroy()
})

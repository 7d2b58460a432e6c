import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { RepairedSocket } from './repaired-socket.ts'

test('what arrived before the end of a connection can be read after it, however late', async () => {
  for (const bytes of [20_000, 2_000_000]) {
    const body = Buffer.alloc(bytes, 'x')
    const server = createServer((socket) =>
      socket.end(Buffer.concat([Buffer.from('HTTP/1.1 200 OK\r\nbad\r\n\r\n'), body])),
    )
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const socket = new RepairedSocket(connect((server.address() as { port: number }).port, '127.0.0.1'))
    socket.read(0) // as a parser that is about to read
    await sleep(200)
    const chunks: Buffer[] = []
    for await (const chunk of socket) chunks.push(chunk)
    assert.equal(Buffer.concat(chunks).toString(), `HTTP/1.1 200 OK\r\n\r\n${body}`)
    if (!socket.closed) await once(socket, 'close')
    server.close()
  }
})

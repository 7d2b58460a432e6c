// The peer of the api bench: Fastify with nothing but the two routes, sending strings that it was given, over the same TLS.
//
// A process of its own, started by openBareServer.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import Fastify from 'fastify'
import type { Identity } from '../../server/api/transport/secure-server.ts'

export type BareAnswer = { readonly path: string; readonly headers: Record<string, string>; readonly body: string }

export type BareServer = Disposable & { readonly pid: number; readonly port: number }

type Order = { readonly identity: Identity; readonly answers: readonly BareAnswer[] }

const preferredCiphers = 'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384'

const self = fileURLToPath(import.meta.url)

/** Listens on a free port of the loopback interface. */
export async function openBareServer(identity: Identity, answers: readonly BareAnswer[]): Promise<BareServer> {
  const child = fork(self, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  child.send({ identity, answers } satisfies Order)
  const [port] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => Promise.reject(new Error('the bare server ended before it listened'))),
  ])
  return { pid: child.pid!, port: port as number, [Symbol.dispose]: () => void child.kill() }
}

async function serve({ identity, answers }: Order): Promise<number> {
  // HTTP/2 with HTTP/1.1 on one port and the same cipher first, as the service has it; Node's defaults for the rest.
  const https = { ...identity, allowHTTP1: true, noDelay: true, ciphers: preferredCiphers, honorCipherOrder: true }
  const server = Fastify({ http2: true, https })
  for (const { path, headers, body } of answers) {
    const head = { ...headers, 'content-length': Buffer.byteLength(body) }
    // Not `reply.send`, which adds a charset to the type and is slower: what is left is routing and Node.
    server.get(path, (_request, reply) => {
      const { raw } = reply.hijack()
      raw.writeHead(200, head)
      raw.end(body)
    })
  }
  await server.listen({ host: '127.0.0.1', port: 0 })
  const address = server.server.address()
  if (address === null || typeof address === 'string') throw new Error('expected an address with a port')
  return address.port
}

if (process.argv[1] === self) {
  process.once('message', async (order: Order) => process.send!(await serve(order)))
  process.on('disconnect', () => process.exit())
}

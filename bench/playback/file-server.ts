// The peer of the playback bench: Node's HTTPS server, which sends one file and does nothing else. It reads into one buffer
// that it uses again for each answer, as fast as Node can send what is read from a disk.
//
// A process of its own, started by openFileServer.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { open } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { fileURLToPath } from 'node:url'
import type { Identity } from '../../server/api/transport/secure-server.ts'

export type FileServer = Disposable & { readonly pid: number; readonly url: string }

type Order = { readonly identity: Identity; readonly path: string }

const chunkBytes = 256 * 1024

const self = fileURLToPath(import.meta.url)

/** Listens on a free port of the loopback interface. */
export async function openFileServer(identity: Identity, path: string): Promise<FileServer> {
  const child = fork(self, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  child.send({ identity, path } satisfies Order)
  const [port] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => Promise.reject(new Error('the file server ended before it listened'))),
  ])
  return { pid: child.pid!, url: `https://localhost:${port as number}/`, [Symbol.dispose]: () => void child.kill() }
}

async function serve({ identity, path }: Order): Promise<number> {
  const server = createServer({ ...identity, noDelay: true }, (_request, response) => void sendFile(path, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('expected an address with a port')
  return address.port
}

async function sendFile(path: string, response: ServerResponse): Promise<void> {
  await using file = await open(path)
  const { size } = await file.stat()
  response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': size })
  const buffer = Buffer.allocUnsafeSlow(chunkBytes)
  for (let at = 0; at < size; ) {
    const { bytesRead } = await file.read(buffer, 0, chunkBytes, at)
    if (bytesRead === 0) break
    at += bytesRead
    await new Promise<void>((resolve) => response.write(buffer.subarray(0, bytesRead), () => resolve()))
  }
  response.end()
}

if (process.argv[1] === self) {
  process.once('message', async (order: Order) => process.send!(await serve(order)))
  process.on('disconnect', () => process.exit())
}

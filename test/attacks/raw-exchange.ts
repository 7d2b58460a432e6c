// A connection of TLS on which bytes are sent as they are, and everything that comes back.

import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import type { Attack } from './attack.ts'

export type ExchangeOptions = {
  readonly port: number
  readonly ca: string
  readonly localAddress: string
  /** Of an earlier connection to the same server, which makes the handshake cheap. */
  readonly session: Buffer | undefined
  readonly onSession: (session: Buffer) => void
}

export type Exchange = {
  readonly bytes: Buffer
  /** Why it could not be: no connection, no handshake. Connections that are reset later are what an attack may meet. */
  readonly refusal: string | undefined
  readonly tookMs: number
}

/** An attack that has said all it has to say waits for so long; the server has not hung up by then, as it may. */
const readMs = 4000
/** Without a byte, for those that listen. */
const quietMs = 60
const listenMs = 1000
/** An endless image is looked at up to here. */
const maxBytes = 2 ** 20

/** Sends an attack and takes what is answered. Never rejects. */
export async function exchange(attack: Attack, options: ExchangeOptions): Promise<Exchange> {
  const { port, ca, localAddress, session } = options
  const beganMs = performance.now()
  const socket = connectTls({
    ...{ host: '127.0.0.1', port, localAddress, ca, servername: 'localhost', ALPNProtocols: [attack.protocol] },
    ...(session && { session }),
  })
  const chunks: Buffer[] = []
  let length = 0
  let lastMs = beganMs
  let refusal: string | undefined
  let isSecure = false
  socket.on('session', options.onSession)
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  const secured = new Promise<void>((resolve) => {
    socket.once('secureConnect', () => {
      isSecure = true
      resolve()
    })
    socket.on('error', (error) => {
      if (!isSecure) refusal = error.message
      resolve()
    })
    socket.once('close', () => resolve())
  })
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    length += chunk.length
    lastMs = performance.now()
    if (length > maxBytes) socket.destroy()
  })
  await secured
  if (!isSecure) refusal ??= 'closed during the handshake'
  for (const bytes of attack.writes) {
    if (socket.destroyed || !socket.writable) break
    if (!socket.write(bytes)) {
      const drained = new Promise<void>((resolve) => socket.once('drain', () => resolve()))
      await Promise.race([drained, closed, sleep(readMs)])
    } else if (attack.writes.length > 1) await new Promise((resolve) => setImmediate(resolve))
  }
  switch (attack.ending) {
    case 'read': {
      socket.end()
      const timer = setTimeout(() => socket.destroy(), readMs)
      await closed
      clearTimeout(timer)
      break
    }
    case 'listen': {
      const untilMs = performance.now() + listenMs
      lastMs = performance.now()
      while (!socket.destroyed && performance.now() < untilMs && performance.now() - lastMs < quietMs) await sleep(20)
      break
    }
    case 'vanish':
      // Without the goodbye of TLS; the system resets the connection where something was not read.
      break
  }
  socket.destroy()
  return { bytes: Buffer.concat(chunks), refusal, tookMs: performance.now() - beganMs }
}

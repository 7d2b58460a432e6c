// A TLS connection that sends the given bytes unchanged and collects everything it receives.

import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import type { Attack } from './attack.ts'
import { hasEnded } from './read-answers.ts'

export type ExchangeOptions = {
  readonly port: number
  readonly ca: string
  readonly localAddress: string
  /** TLS session of an earlier connection to the same server, which makes the handshake cheap. */
  readonly session: Buffer | undefined
  readonly onSession: (session: Buffer) => void
}

export type Exchange = {
  readonly bytes: Buffer
  /** Why there was no connection or no handshake. A connection that is reset later is a valid reaction to an attack. */
  readonly refusal: string | undefined
  readonly tookMs: number
}

/** How long an attack that ended its side reads: the server may keep the connection open. */
const readMs = 4000
/** How long an attack waits for a response: those about cameras take seconds, and longer on a busy machine. */
const waitMs = 60_000
/** How long attacks that listen wait without receiving a byte. */
const quietMs = 60
const listenMs = 1000
/** Limit of bytes that are read from an endless response. */
const maxBytes = 2 ** 20

/** Sends an attack and collects the response. Never rejects. */
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
  const isWaiting = attack.ending === 'wait' && attack.protocol === 'h2'
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
    if (length > maxBytes || (isWaiting && hasEnded(Buffer.concat(chunks)))) socket.destroy()
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
    case 'wait':
    case 'read': {
      if (attack.ending === 'read') socket.end()
      const timer = setTimeout(() => socket.destroy(), attack.ending === 'read' ? readMs : waitMs)
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
      // Closes without the TLS close message; the system resets the connection if data was not read.
      break
  }
  socket.destroy()
  return { bytes: Buffer.concat(chunks), refusal, tookMs: performance.now() - beganMs }
}

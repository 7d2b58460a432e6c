// The first byte of each connection decides: a TLS handshake goes on, anything else is a client that forgot the `s` and is told
// so, once, before the connection is closed. Never data, never a redirect: a redirect would hide that credentials went out in clear.

import type { Server, Socket } from 'node:net'
import { HttpError, writeProblem } from '../problem.ts'
import { closeSoon } from './close-soon.ts'
import { Turns } from './turns.ts'

/** A handshake is close to a millisecond of work. */
const handshakesPerTurn = 4

/** TLS record of type handshake (RFC 8446 section 5.1). */
const handshakeRecord = 22

const refusal = ((): string => {
  const problem = new HttpError(
    403,
    'https_required',
    'This service is reached over HTTPS only: use https:// in the address.',
  )
  const body = writeProblem(problem.problem)
  return [
    'HTTP/1.1 403 Forbidden',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Access-Control-Allow-Origin: *',
    'Connection: close',
    '',
    body,
  ].join('\r\n')
})()

/** Puts the check before what `tlsServer` does with a new connection. Connections silent for `firstByteMs` are closed. */
export function refusePlainHttp(tlsServer: Server, firstByteMs: number): void {
  const accept = tlsServer.listeners('connection') as ((socket: Socket) => void)[]
  tlsServer.removeAllListeners('connection')
  const turns = new Turns(handshakesPerTurn)
  tlsServer.on('connection', (socket: Socket) => {
    const giveUp = () => socket.destroy()
    socket.setTimeout(firstByteMs, giveUp)
    socket.on('error', giveUp)
    socket.once('readable', () => {
      const bytes: Buffer | null = socket.read()
      if (bytes === null) {
        socket.destroy() // ended without a byte
        return
      }
      if (bytes[0] !== handshakeRecord) {
        refuse(socket)
        return
      }
      turns.take(() => {
        if (socket.destroyed) return
        socket.setTimeout(0, giveUp)
        socket.off('timeout', giveUp)
        socket.off('error', giveUp)
        socket.unshift(bytes)
        for (const listener of accept) listener.call(tlsServer, socket)
      })
    })
  })
}

function refuse(socket: Socket): void {
  socket.end(refusal)
  closeSoon(socket)
}

// The first byte of each connection decides: a TLS handshake goes on, anything else is a client that forgot the `s` and
// is told so, once, before the connection is closed. Never data, never a redirect: a redirect would hide that
// credentials went out in clear.

import type { Server, Socket } from 'node:net'
import { addressBlock } from '../../auth/guard/address-block.ts'
import { HttpError, writeProblem } from '../problem.ts'
import { closeSoon } from './close-soon.ts'
import { FairScheduler } from './fair-scheduler.ts'
import { type PlainRequest, readPlainRequest } from './plain-request.ts'
import { plainAddress } from './trusted-proxies.ts'

/** A handshake is close to a millisecond of work. */
const handshakesPerTurn = 4

/** TLS record of type handshake (RFC 8446 section 5.1). */
const handshakeRecord = 22

/** Told of requests that were refused with credentials in them, by the address they came from. */
export type OnClearCredentials = (request: PlainRequest & { readonly ip: string }) => void

/** `hasCredentials`: whoever sent them is told that others may have read them. */
export function createPlainHttpError(
  hasCredentials: boolean,
  headers: Readonly<Record<string, string>> = {},
): HttpError {
  const told = hasCredentials
    ? ' The credentials in this request went over the network in clear: replace them, others may have read them.'
    : ''
  const detail = `This service is reached over HTTPS only: use https:// in the address.${told}`
  return new HttpError(403, 'https_required', detail, headers)
}

const [refusal, refusalOfCredentials] = [false, true].map((hasCredentials): string => {
  const problem = createPlainHttpError(hasCredentials)
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
}) as [string, string]

/**
 * Puts the check before what `tlsServer` does with a new connection. Connections silent for `firstByteMs` are closed.
 */
export function refusePlainHttp(tlsServer: Server, firstByteMs: number, onCredentials?: OnClearCredentials): void {
  const accept = tlsServer.listeners('connection') as ((socket: Socket) => void)[]
  tlsServer.removeAllListeners('connection')
  const turns = new FairScheduler({ perTurn: handshakesPerTurn })
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
        void refuse(socket, bytes, onCredentials)
        return
      }
      turns.take(addressBlock(plainAddress(socket.remoteAddress ?? '')), () => {
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

async function refuse(socket: Socket, bytes: Buffer, onCredentials: OnClearCredentials | undefined): Promise<void> {
  const ip = plainAddress(socket.remoteAddress ?? '')
  const request = await readPlainRequest(socket, bytes)
  const hasCredentials = request.authorization !== undefined || request.isForm
  if (hasCredentials) onCredentials?.({ ...request, ip })
  socket.end(hasCredentials ? refusalOfCredentials : refusal)
  closeSoon(socket)
}

// Recognizes plain HTTP on the HTTPS port by the first byte of a connection. A TLS handshake continues; any other client
// gets one error response before the connection is closed. The response is never a redirect, because a redirect would
// hide that credentials were sent unencrypted.

import type { Server, Socket } from 'node:net'
import { addressBlock } from '../../auth/guard/address-block.ts'
import { HttpError, writeProblem } from '../problem.ts'
import { closeSoon } from './close-soon.ts'
import { FairScheduler } from './fair-scheduler.ts'
import { type PlainRequest, plainHttpPageHeaders, readPlainRequest } from './plain-request.ts'
import { plainAddress } from './trusted-proxies.ts'

/** A handshake takes almost a millisecond of processor time. */
const handshakesPerTurn = 4

/** TLS record of type handshake (RFC 8446 section 5.1). */
const handshakeRecord = 22

/** Called for refused requests that contained credentials, with the IP address of the client. */
export type OnClearCredentials = (request: Omit<PlainRequest, 'page'> & { readonly ip: string }) => void

/** `hasCredentials`: the response warns that others may have read the credentials. */
export function createPlainHttpError(
  hasCredentials: boolean,
  headers: Readonly<Record<string, string>> = {},
  advice = 'Use https:// in the URL.',
): HttpError {
  const warning = hasCredentials
    ? ' The credentials in this request were sent unencrypted. Replace them, because others may have read them.'
    : ''
  const detail = `This service accepts only HTTPS. ${advice}${warning}`
  return new HttpError(403, 'https_required', detail, headers)
}

function writeRefusal({ page }: PlainRequest, hasCredentials: boolean): string {
  const body = page ?? writeProblem(createPlainHttpError(hasCredentials).problem)
  return [
    'HTTP/1.1 403 Forbidden',
    ...Object.entries(page === undefined ? jsonHeaders : plainHttpPageHeaders).map(
      ([name, value]) => `${name}: ${value}`,
    ),
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n')
}

const jsonHeaders = { 'Content-Type': 'application/json', 'Access-Control-Allow-Origin': '*' }

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
  socket.end(writeRefusal(request, hasCredentials))
  closeSoon(socket)
}

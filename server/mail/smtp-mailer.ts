// Sends emails by SMTP (RFC 5321) through a configured server. The connection is encrypted from the start (smtps://) or
// by STARTTLS (smtp://), and the certificate must be valid. Only connections to this machine may be unencrypted.

import { connect, type Socket, type TcpNetConnectOpts } from 'node:net'
import { createTransport } from 'nodemailer'
import { AppError } from '../base/error.ts'
import { NameResolver } from '../base/names/name-resolver.ts'
import { createSocketLookup } from '../base/names/socket-lookup.ts'
import { checkMail, type Mail } from '../model/mail.ts'
import { type Mailer, writeMessage } from './mailer.ts'

const timeoutMs = 20_000

export type SmtpMailerOptions = {
  /** smtp:// or smtps://, with username and password if the server requires them. */
  readonly url: string
  readonly from: string
  /** A certificate authority (PEM) to trust in addition to those of the system. */
  readonly ca?: string
  readonly names?: Pick<NameResolver, 'lookup'>
}

export function createSmtpMailer({
  url,
  from,
  ca,
  names = new NameResolver(),
}: SmtpMailerOptions): Mailer & { close(): void } {
  const { protocol, hostname, port, username, password } = new URL(url)
  const isSecure = protocol === 'smtps:'
  const host = hostname.replace(/^\[|\]$/g, '')
  const isHere = ['localhost', '127.0.0.1', '::1'].includes(host)
  const at = { host, port: port === '' ? (isSecure ? 465 : 587) : Number(port) }
  const transport = createTransport({
    pool: true,
    maxConnections: 2,
    ...at,
    // Nodemailer's own name lookup blocks a thread while a name cannot be resolved.
    getSocket: (_: unknown, callback: SocketCallback) =>
      openSocket({ ...at, lookup: createSocketLookup(names) }, callback),
    secure: isSecure,
    requireTLS: !isHere,
    ...(username !== '' && { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    tls: { rejectUnauthorized: true, minVersion: 'TLSv1.2', ...(ca !== undefined && { ca }) },
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return {
    async send(mail: Mail): Promise<void> {
      checkMail(mail)
      try {
        await transport.sendMail(writeMessage(mail, from))
      } catch (error) {
        throw toAppError(error, host)
      }
    },
    close: () => transport.close(),
  }
}

type SocketCallback = (error: Error | null, opened?: { connection: Socket }) => void

function openSocket(options: TcpNetConnectOpts, callback: SocketCallback): void {
  const socket = connect({ ...options, timeout: timeoutMs })
  const give = (error?: Error) => {
    socket.removeAllListeners()
    if (!error) {
      socket.setTimeout(0)
      callback(null, { connection: socket })
      return
    }
    socket.on('error', () => {}).destroy()
    callback(error)
  }
  socket.once('connect', () => give())
  socket.once('timeout', () => give(Object.assign(new Error('the connection timed out'), { code: 'ETIMEDOUT' })))
  socket.once('error', (error) => give(Object.assign(error, { code: isUnknownName(error) ? 'EDNS' : 'ESOCKET' })))
}

function isUnknownName(error: Error): boolean {
  return error instanceof AppError || ('syscall' in error && error.syscall === 'getaddrinfo')
}

/** Omits the server's response, which may repeat the email address or even the credentials. */
function toAppError(error: unknown, host: string): AppError {
  const { code = '', responseCode } = error as { code?: string; responseCode?: number }
  // Only errors about this email are permanent. A misconfigured server may be fixed later.
  const isForGood = responseCode !== undefined && responseCode >= 500 && ['EENVELOPE', 'EMESSAGE'].includes(code)
  const reasons: Record<string, string> = {
    EAUTH: 'rejected the username or password',
    ETLS: 'could not set up an encrypted connection',
    ESOCKET: `cannot be reached, or its certificate is invalid (${describeSocketError(error)})`,
    ECONNECTION: 'cannot be reached',
    ETIMEDOUT: 'does not respond',
    EDNS: 'was not found',
    EENVELOPE: 'rejected the address',
  }
  const reason = reasons[code] ?? 'did not accept the email'
  const answer = responseCode === undefined ? '' : ` (response ${responseCode})`
  return new AppError(isForGood ? 'invalid' : 'unavailable', `the mail server ${host} ${reason}${answer}`)
}

function describeSocketError(error: unknown): string {
  return String((error as Error).message ?? '')
    .replaceAll(/[^\w .,:'"-]/g, ' ')
    .slice(0, 120)
}

// Mail by SMTP (RFC 5321), through a server of the owner's, encrypted: from the first byte (smtps://) or by STARTTLS (smtp://),
// whose certificate must be good. Only to this very machine may it be in the clear.

import { connect, type Socket, type TcpNetConnectOpts } from 'node:net'
import { createTransport } from 'nodemailer'
import { AppError } from '../base/error.ts'
import { NameResolver } from '../base/names/name-resolver.ts'
import { createSocketLookup } from '../base/names/socket-lookup.ts'
import { checkMail, type Mail } from '../model/mail.ts'
import { type Mailer, writeMessage } from './mailer.ts'

const timeoutMs = 20_000

export type SmtpMailerOptions = {
  /** smtp:// or smtps://, with user name and password if it asks for them. */
  readonly url: string
  readonly from: string
  /** PEM of an authority to trust besides the system's. */
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
    // Its own way of looking up names holds a thread where a name is not known.
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
  socket.once('timeout', () => give(Object.assign(new Error('no connection in time'), { code: 'ETIMEDOUT' })))
  socket.once('error', (error) => give(Object.assign(error, { code: isUnknownName(error) ? 'EDNS' : 'ESOCKET' })))
}

function isUnknownName(error: Error): boolean {
  return error instanceof AppError || ('syscall' in error && error.syscall === 'getaddrinfo')
}

/** Without the server's words, which may repeat the address or, of a debugging server, the credentials. */
function toAppError(error: unknown, host: string): AppError {
  const { code = '', responseCode } = error as { code?: string; responseCode?: number }
  // Only what is about this very mail: a server that is set up wrongly may be set right.
  const isForGood = responseCode !== undefined && responseCode >= 500 && ['EENVELOPE', 'EMESSAGE'].includes(code)
  const reasons: Record<string, string> = {
    EAUTH: 'refuses the user name or password',
    ETLS: 'cannot be spoken to encrypted',
    ESOCKET: `cannot be reached, or its certificate is not good (${describeSocketError(error)})`,
    ECONNECTION: 'cannot be reached',
    ETIMEDOUT: 'does not answer',
    EDNS: 'is not known',
    EENVELOPE: 'refuses the address',
  }
  const reason = reasons[code] ?? 'did not take the mail'
  const answer = responseCode === undefined ? '' : ` (answer ${responseCode})`
  return new AppError(isForGood ? 'invalid' : 'unavailable', `the mail server ${host} ${reason}${answer}`)
}

function describeSocketError(error: unknown): string {
  return String((error as Error).message ?? '')
    .replaceAll(/[^\w .,:'"-]/g, ' ')
    .slice(0, 120)
}

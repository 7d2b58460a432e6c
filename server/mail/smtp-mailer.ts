// Sends emails by SMTP (RFC 5321) through a configured server. The connection is encrypted from the start (smtps://) or
// by STARTTLS (smtp://), and the certificate must be valid. Connections to this machine may be unencrypted, and their
// certificate is not checked: Debian's Postfix offers STARTTLS with one that nobody signed.

import { connect, type Socket, type TcpNetConnectOpts } from 'node:net'
import { rootCertificates } from 'node:tls'
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
  readonly ca?: string | undefined
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
    tls: {
      rejectUnauthorized: !isHere,
      minVersion: 'TLSv1.2',
      ...(ca !== undefined && { ca: [...rootCertificates, ca] }),
    },
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
        throw toAppError(error, { host, from, to: mail.to })
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

type SmtpError = {
  readonly code?: string
  readonly command?: string
  /** The last line of the server's answer begins with it. */
  readonly responseCode?: number
  readonly response?: string
}

/** About this email: nothing is gained by sending it again. */
function isForGood({ code = '', command, responseCode = 0, response = '' }: SmtpError): boolean {
  return responseCode >= 500 && ['EENVELOPE', 'EMESSAGE'].includes(code) && !isSetting(command, response)
}

/**
 * A setting of ours, or of the account at the mail server, is wrong: it refuses the sender, or it refuses by a rule
 * (RFC 3463: X.7.X).
 */
function isSetting(command: string | undefined, response: string): boolean {
  return isOfSender(command, response) || /^\d{3}[ -]5\.7\.\d+/m.test(response)
}

/** Postfix says so only when it has the recipient, Exchange when it has everything. */
function isOfSender(command: string | undefined, response: string): boolean {
  return command === 'MAIL FROM' || /SendAsDenied|sender address rejected/i.test(response)
}

type Attempt = { readonly host: string; readonly from: string; readonly to: string }

function toAppError(error: unknown, { host, from, to }: Attempt): AppError {
  const failure = error as SmtpError
  const { code = '', command, responseCode, response = '' } = failure
  const reasons: Record<string, string> = {
    EAUTH: 'rejected the username or password',
    ETLS: 'could not set up an encrypted connection',
    ESOCKET: `cannot be reached, or its certificate is invalid (${describeSocketError(error)})`,
    ECONNECTION: 'cannot be reached',
    ETIMEDOUT: 'does not respond',
    EDNS: 'was not found',
    EENVELOPE: 'rejected the address',
  }
  const isAboutSender = isOfSender(command, response)
  const isRule = !isAboutSender && (responseCode ?? 0) >= 500 && isSetting(command, response)
  const reason = isAboutSender
    ? `does not accept emails from ${from}; set mail-from to an address that this account may use`
    : isRule
      ? `refuses emails by a rule; check mail-from (${from}), and the username in smtp-url`
      : (reasons[code] ?? 'did not accept the email')
  // What it says of a login may repeat it.
  const text = code === 'EAUTH' ? [responseCode, findEnhanced(response)].filter(Boolean).join(' ') : clean(response, to)
  const answer = responseCode === undefined ? '' : ` (response ${text})`
  const advice =
    code === 'ESOCKET' && /certificate|self.signed/i.test(reason) ? '; to trust its authority, set smtp-ca' : ''
  return new AppError(
    isForGood(failure) ? 'invalid' : 'unavailable',
    `the mail server ${host} ${reason}${answer}${advice}`,
  )
}

const findEnhanced = (response: string): string | undefined => /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})\b/m.exec(response)?.[1]

/** On one line, without addresses and without the name of the recipient. */
function clean(response: string, to: string): string {
  const name = to.slice(0, to.lastIndexOf('@'))
  const plain = response.replaceAll(/[^\s<>"'(),;:]+@[^\s<>"'(),;]+/g, '(address)').replaceAll(/[^\x20-\x7e]+/g, ' ')
  return (name.length > 2 ? plain.replaceAll(name, '(name)') : plain).slice(0, 300).trim()
}

/** What a library of the system says of a certificate is about its own options, not about ours. */
function describeSocketError(error: unknown): string {
  return String((error as Error).message ?? '')
    .replace(/; if the root CA is installed.*$/, '')
    .replaceAll(/[^\w .,:'"-]/g, ' ')
    .slice(0, 120)
}

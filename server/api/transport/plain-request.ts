// The beginning of a request that came without TLS: read so far that it can be told whether credentials went out in
// clear.

import type { Socket } from 'node:net'

const maxHeadBytes = 16 * 1024
const waitMs = 1000

export type PlainRequest = {
  readonly authorization: string | undefined
  readonly userAgent: string | undefined
  /** Sent to an address that takes passwords or tokens in a form. */
  readonly isForm: boolean
  /** For a browser: the page that explains the refusal. */
  readonly page: string | undefined
}

/** What `first`, and what follows within a moment, says; whatever it is. */
export async function readPlainRequest(socket: Socket, first: Buffer): Promise<PlainRequest> {
  return parse((await readHead(socket, first)).toString('latin1'))
}

/** Up to the empty line, the bound, the end, or until nothing more has come for too long. */
function readHead(socket: Socket, first: Buffer): Promise<Buffer> {
  const { promise, resolve } = Promise.withResolvers<Buffer>()
  let head = first
  const isWhole = () =>
    !/^[A-Z]/.test(head.toString('latin1', 0, 1)) || head.includes('\r\n\r\n') || head.length > maxHeadBytes
  const finish = () => {
    clearTimeout(timer)
    socket.off('data', read)
    for (const event of ends) socket.off(event, finish)
    resolve(head.subarray(0, maxHeadBytes))
  }
  const read = (bytes: Buffer) => {
    head = Buffer.concat([head, bytes])
    if (isWhole()) finish()
  }
  const ends = ['end', 'close', 'error'] as const
  const timer = setTimeout(finish, waitMs)
  if (isWhole()) finish()
  else {
    socket.on('data', read)
    for (const event of ends) socket.on(event, finish)
  }
  return promise
}

function parse(head: string): PlainRequest {
  const [line = '', ...lines] = head.split('\r\n\r\n', 1)[0]!.split('\r\n')
  const find = (name: string) =>
    lines
      .find((each) => each.toLowerCase().startsWith(`${name}:`))
      ?.slice(name.length + 1)
      .trim() || undefined
  return {
    authorization: find('authorization'),
    userAgent: find('user-agent'),
    isForm: isFormLine(line),
    page: writePlainHttpPage({
      ...{ method: line.split(' ', 1)[0], url: line.split(' ')[1], host: find('host') },
      ...{ accept: find('accept'), languages: find('accept-language') },
    }),
  }
}

export const plainHttpPageHeaders = {
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
} as const

export type PageRequest = {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly host: string | undefined
  readonly accept: string | undefined
  readonly languages: string | undefined
}

/**
 * Tells the person in front of a browser what to do. There is no redirect, because it would hide that credentials were
 * sent in clear. Style sheets could not be loaded. Undefined for programs.
 */
export function writePlainHttpPage({
  method,
  url = '',
  host = '',
  accept,
  languages,
}: PageRequest): string | undefined {
  const isPage = method === 'GET' && accept?.toLowerCase().includes('text/html')
  if (!isPage || !/^[\w.:[\]-]+$/.test(host) || !url.startsWith('/')) return undefined
  const target = `https://${host}${url}`.replace(/[<>"'&]/g, (sign) => `&#${sign.charCodeAt(0)};`)
  const isGerman = /^\s*de\b/i.test(languages ?? '')
  const [title, advice] = isGerman
    ? ['Dieser Server braucht eine verschlüsselte Verbindung', 'Öffnen Sie ihn mit https:// statt http://:']
    : ['This server needs an encrypted connection', 'Open it with https:// instead of http://:']
  return `<!doctype html>
<html lang="${isGerman ? 'de' : 'en'}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} – Nightjar</title>
<h1>${title}</h1>
<p>${advice}</p>
<p><a href="${target}">${target}</a></p>
</html>
`
}

/** As a request line, or its method and path. */
export function isFormLine(line: string): boolean {
  return /^POST \/(oauth\/token|oauth\/token-revoke|sign-in|confirm|set-up|sign-up|reset|account\/password|account\/email)\/?[ ?]/.test(
    line,
  )
}

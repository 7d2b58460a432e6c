// Requests to identity providers. Each is limited in time and size, follows no redirects, and goes only to hosts that
// the operator has configured or that are publicly reachable.

import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { LookupFunction } from 'node:net'
import { createSecureContext } from 'node:tls'
import type { CustomFetch } from 'openid-client'
import { AppError, errorChain } from '../../base/error.ts'
import { unbracket } from '../../base/names/address-literal.ts'
import type { FoundAddress, LookupOptions } from '../../base/names/name-resolver.ts'
import { Semaphore } from '../../base/semaphore.ts'
import { isOnThisMachine, type ProviderSettings } from './provider-settings.ts'

export type OutgoingOptions = {
  readonly provider: Pick<ProviderSettings, 'issuer' | 'hosts' | 'ca'>
  /** All IP addresses of a host that the operator has configured. */
  readonly lookup: (host: string, options: LookupOptions) => Promise<readonly FoundAddress[]>
  /** The IP address of any other host. Throws if it belongs to this machine or a private network. */
  readonly lookupPublic: (host: string, port: number, options: LookupOptions) => Promise<FoundAddress>
  readonly limits?: Partial<OutgoingLimits>
}

export type OutgoingLimits = { readonly totalMs: number; readonly maxBytes: number }

const usualLimits: OutgoingLimits = { totalMs: 10_000, maxBytes: 256 * 1024 }
/** These statuses have no body, and `Response` accepts none. */
const bodiless: ReadonlySet<number> = new Set([204, 205, 304])

/**
 * A `fetch` function for `openid-client`. Rejects with AppError 'unavailable', whose message contains nothing that the
 * provider sent.
 */
export function createOutgoingFetch({ provider, lookup, lookupPublic, limits }: OutgoingOptions): CustomFetch {
  const { totalMs, maxBytes } = { ...usualLimits, ...limits }
  const issuer = new URL(provider.issuer)
  // Shared by all requests, because each instance takes time and memory outside the heap.
  const secureContext = createSecureContext(provider.ca === undefined ? {} : { ca: provider.ca })
  const known = new Set([issuer.host, ...provider.hosts].map((host) => host.toLowerCase()))
  const semaphore = new Semaphore({
    maxRunning: 16,
    maxWaiting: 100,
    refusal: 'too many sign-ins with this provider are in progress',
  })

  const findAddress = async (url: URL, signal: AbortSignal): Promise<FoundAddress> => {
    const host = unbracket(url.hostname)
    if (!known.has(url.host)) return lookupPublic(host, Number(url.port || 443), { signal })
    const found = await lookup(host, { signal })
    return found.find(({ family }) => family === 4) ?? found[0]!
  }

  const ask = async (url: URL, options: Parameters<CustomFetch>[1], signal: AbortSignal): Promise<Response> => {
    const { method, headers, body } = options
    const isPlain = url.protocol === 'http:'
    if (!isPlain && url.protocol !== 'https:') throw unavailable(url, 'the URL is neither https nor http')
    if (isPlain && !(issuer.protocol === 'http:' && isOnThisMachine(url)))
      throw unavailable(url, 'the URL is not https')
    const { address, family } = await findAddress(url, signal)
    signal.throwIfAborted()
    const payload = readPayload(body)
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    const outgoing = (isPlain ? requestHttp : requestHttps)(url, {
      method,
      headers: {
        ...Object.fromEntries(new Headers(headers).entries()),
        'accept-encoding': 'identity',
        ...(payload && { 'content-length': String(payload.length) }),
      },
      agent: false,
      signal,
      lookup: pin(address, family),
      ...(!isPlain && { secureContext }),
    })
    outgoing.on('response', resolve).on('error', reject)
    outgoing.end(payload)
    const incoming = await promise
    try {
      return await readResponse(url, incoming, maxBytes)
    } finally {
      incoming.destroy()
    }
  }

  return async (address, options) => {
    const url = new URL(address)
    return semaphore.run(async () => {
      const late = AbortSignal.timeout(totalMs)
      const signal = options.signal ? AbortSignal.any([late, options.signal]) : late
      try {
        return await ask(url, options, signal)
      } catch (error) {
        if (late.aborted) throw unavailable(url, 'it did not respond in time')
        throw error instanceof AppError && error.kind === 'unavailable' ? error : unavailable(url, errorChain(error))
      }
    })
  }
}

async function readResponse(url: URL, incoming: IncomingMessage, maxBytes: number): Promise<Response> {
  const status = incoming.statusCode!
  if (status >= 300 && status < 400) throw unavailable(url, `it redirects to another URL (${status})`)
  if (status < 200 || status > 599) throw unavailable(url, `it responded with status ${status}`)
  const encoding = incoming.headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity') throw unavailable(url, 'its response is compressed, which was not requested')
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > maxBytes) throw unavailable(url, `its response has more than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  if (!incoming.complete) throw unavailable(url, 'its response is incomplete')
  const headers = new Headers()
  for (const [name, value] of Object.entries(incoming.headers)) headers.set(name, [value ?? ''].flat().join(', '))
  return new Response(bodiless.has(status) ? null : Buffer.concat(chunks), { status, headers })
}

function readPayload(body: Parameters<CustomFetch>[1]['body']): Buffer | undefined {
  if (body === undefined || body === null) return undefined
  if (typeof body === 'string' || body instanceof URLSearchParams) return Buffer.from(body.toString())
  throw new AppError('internal', 'a request to an identity provider has an unexpected body')
}

/** Connects to the IP address that was checked, whatever the name resolves to later. */
function pin(address: string, family: number): LookupFunction {
  return (_host, { all }, callback) => (all ? callback(null, [{ address, family }]) : callback(null, address, family))
}

/** Without the query, which may contain secrets. */
function unavailable({ origin, pathname }: URL, why: string): AppError {
  return new AppError('unavailable', `${origin}${pathname} cannot be used: ${why}`)
}

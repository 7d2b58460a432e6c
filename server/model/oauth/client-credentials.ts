// How an application authenticates: in the body or by HTTP Basic (RFC 6749 section 2.3.1). Some programs send the same
// by both.

import type { Fields } from './fields.ts'
import { OAuthError } from './oauth-error.ts'

export type ClientCredentials = {
  readonly clientId: string
  /** Possible readings of the secret that was sent; empty if none was. */
  readonly secrets: readonly string[]
}

/**
 * `authorization`: the header; schemes other than Basic are ignored. Throws 'invalid_request' and
 * 'invalid_client'.
 */
export function readClientCredentials(fields: Fields, authorization: string | undefined): ClientCredentials {
  const clientId = fields.get('client_id')
  const secret = fields.get('client_secret')
  const basic = authorization === undefined ? undefined : readBasic(authorization)
  if (!basic) {
    if (clientId === undefined) throw new OAuthError('invalid_client')
    return { clientId, secrets: secret === undefined ? [] : [secret] }
  }
  if (secret !== undefined && !basic.secrets.includes(secret))
    throw new OAuthError('invalid_request', 'Two different client secrets were sent.')
  const [id] = basic.ids
  if (clientId !== undefined && !basic.ids.includes(clientId)) {
    throw new OAuthError('invalid_request', 'Two different client ids were sent.')
  }
  return { clientId: clientId ?? id, secrets: basic.secrets }
}

/** Undefined for another scheme. The standard form-encodes both parts; many clients send them unencoded. */
function readBasic(authorization: string): { ids: readonly [string, ...string[]]; secrets: string[] } | undefined {
  const [, encoded] = /^basic +(\S*)\s*$/i.exec(authorization) ?? []
  if (encoded === undefined) return undefined
  const text = decodeBase64(encoded)
  const colon = text?.indexOf(':') ?? -1
  if (text === undefined || colon < 1 || text.includes('\0')) throw new OAuthError('invalid_client')
  const [id, secret] = [text.slice(0, colon), text.slice(colon + 1)]
  return { ids: [decodeForm(id), id], secrets: secret === '' ? [] : [...new Set([decodeForm(secret), secret])] }
}

function decodeBase64(text: string): string | undefined {
  try {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

function decodeForm(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

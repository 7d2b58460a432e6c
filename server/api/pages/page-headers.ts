// Headers of every page, whether it went well or not. None lets another origin read a page: cookies count here.

import { transportHeaders } from '../answer.ts'
import type { ShownPage } from './page.ts'

/**
 * Cross-Origin-Opener-Policy is left out on purpose: it would cut the tie between an application and the window it opened for
 * signing in. Referrer-Policy is same-origin, because browsers that only send Origin send `null` under no-referrer.
 */
const pageHeaders = {
  ...transportHeaders,
  'cache-control': 'no-store',
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
} as const

export function createPageHeaders(page: PolicyOptions = {}): Record<string, string> {
  return { ...pageHeaders, 'content-security-policy': writePolicy(page) }
}

export type PolicyOptions = Pick<ShownPage, 'leadsTo' | 'script'>

/**
 * Nothing but our own style sheet and pictures; no script but ours, where the page has one; no frame around it. `leadsTo`: the address a
 * form of this page leads to. Browsers hold every hop after a form to `form-action`, and an application may send the browser on, hence `https:`.
 */
export function writePolicy({ leadsTo, script }: PolicyOptions): string {
  const targets = leadsTo === undefined ? ["'self'"] : ["'self'", 'https:', ...formTargets(leadsTo)]
  return [
    "default-src 'none'",
    ...(script === undefined ? [] : ["script-src 'self'"]),
    "style-src 'self'",
    "img-src 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    `form-action ${targets.join(' ')}`,
  ].join('; ')
}

/** CSP has no spelling for IPv6 addresses, and none for the host of a private scheme: their scheme is all that can be said. */
function formTargets(address: string): string[] {
  const { protocol, origin, hostname } = new URL(address)
  if (protocol === 'https:') return []
  return [protocol === 'http:' && !hostname.startsWith('[') ? origin : protocol]
}

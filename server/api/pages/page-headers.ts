// The headers of all pages, including error pages. They do not allow other origins to read a page, because pages depend
// on cookies.

import { transportHeaders } from '../answer.ts'
import type { ShownPage } from './page.ts'

/**
 * Cross-Origin-Opener-Policy is omitted on purpose: it would separate an application from the window that it opened for
 * signing in. Referrer-Policy is same-origin because browsers that send only Origin send `null` under no-referrer.
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
 * Allows only our own style sheet and images, our own script on pages that have one, and no frames. `leadsTo` is the
 * URL that a form of this page redirects to. Browsers apply `form-action` to every redirect after a form, and an
 * application may redirect further, so `https:` is allowed too.
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

/** CSP cannot express IPv6 addresses or hosts of private schemes. For those, only the scheme is listed. */
function formTargets(address: string): string[] {
  const { protocol, origin, hostname } = new URL(address)
  if (protocol === 'https:') return []
  return [protocol === 'http:' && !hostname.startsWith('[') ? origin : protocol]
}

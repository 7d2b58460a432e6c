// The headers of all pages, including error pages. They do not allow other origins to read a page, because pages depend
// on cookies.

import type { ShownPage } from './page.ts'

/**
 * Cross-Origin-Opener-Policy is omitted on purpose: it would separate an application from the window that it opened for
 * signing in. Referrer-Policy is same-origin because browsers that send only Origin send `null` under no-referrer.
 */
const pageHeaders = {
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

export type PolicyOptions = Pick<ShownPage, 'leadsOut' | 'script'>

/**
 * Allows only our own style sheet and images, our own script on pages that have one, and no frames. Forms stay on this
 * server, unless they lead to an application: browsers apply `form-action` to every redirect after a form, and where
 * applications redirect to, such as another program on the device, is not known. What such a form sends is for this server
 * alone; the redirects after it carry no body.
 */
export function writePolicy({ leadsOut = false, script }: PolicyOptions): string {
  return [
    "default-src 'none'",
    ...(script === undefined ? [] : ["script-src 'self'"]),
    // It asks this server how strong a password is.
    ...(script === 'password' ? ["connect-src 'self'"] : []),
    "style-src 'self'",
    "img-src 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    ...(leadsOut ? [] : ["form-action 'self'"]),
  ].join('; ')
}

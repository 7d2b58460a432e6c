// IP addresses in place of host names, which need no resolver.

import { isIP } from 'node:net'

/** The IP address that a host denotes without a resolver, without brackets and zone; undefined for a name. */
export function readAddressLiteral(host: string): string | undefined {
  const plain = unbracket(host).replace(/%.*$/, '')
  if (isIP(plain)) return plain
  // Resolvers read `2130706433`, `0x7f.1` and `127.1` as WHATWG URLs do; they leave a percent sign as it is.
  const spelled = host.includes('%') ? undefined : URL.parse(`http://${host}/`)?.hostname
  return spelled !== undefined && isIP(spelled) ? spelled : undefined
}

/**
 * `localhost`, and with `isBelow` every name below it, means this machine, whatever resolvers say (RFC 6761, section
 * 6.3).
 */
export function isLocalhost(host: string, { isBelow = false } = {}): boolean {
  return (isBelow ? /^(.+\.)?localhost\.?$/i : /^localhost\.?$/i).test(host)
}

export function unbracket(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1')
}

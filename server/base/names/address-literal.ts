// Addresses that are written in the place of a name: nobody is asked where they lead.

import { isIP } from 'node:net'

/** The address that a host stands for without a resolver, brackets and zone taken off; undefined for a name. */
export function readAddressLiteral(host: string): string | undefined {
  const plain = unbracket(host).replace(/%.*$/, '')
  if (isIP(plain)) return plain
  // Resolvers read `2130706433`, `0x7f.1` and `127.1` as the WHATWG's URLs do; a % they leave as it is.
  const spelled = host.includes('%') ? undefined : URL.parse(`http://${host}/`)?.hostname
  return spelled !== undefined && isIP(spelled) ? spelled : undefined
}

/** `localhost`, and with `isBelow` every name that ends in it: this machine, whatever resolvers say (RFC 6761, section 6.3). */
export function isLocalhost(host: string, { isBelow = false } = {}): boolean {
  return (isBelow ? /^(.+\.)?localhost\.?$/i : /^localhost\.?$/i).test(host)
}

export function unbracket(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1')
}

// What counts as one client when attempts are counted: an IPv4 address or a /64 block of IPv6 addresses, because a
// single subscriber usually has a whole block. Some have a /48.

import { isIPv6 } from 'node:net'

/** Returns a key for maps. Anything that is not an IPv6 address is its own block. */
export function addressBlock(ip: string, bits: 48 | 64 = 64): string {
  const address = ip.split('%', 1)[0]!
  if (!isIPv6(address)) return ip
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)
  if (mapped) return mapped[1]!
  // Two groups replace a dotted IPv4 suffix. Their values do not affect the first 64 bits.
  const [head, tail] = address.replace(/\d+\.\d+\.\d+\.\d+$/, '0:0').split('::') as [string, string?]
  const first = groupsOf(head)
  const groups =
    tail === undefined ? first : [...first, ...zeros(8 - first.length - groupsOf(tail).length), ...groupsOf(tail)]
  return `${groups
    .slice(0, bits / 16)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/${bits}`
}

const groupsOf = (text: string): string[] => (text === '' ? [] : text.split(':'))
const zeros = (count: number): string[] => Array.from({ length: count }, () => '0')

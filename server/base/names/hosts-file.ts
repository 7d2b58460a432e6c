// The hosts file: names that the administrator of this machine has assigned to addresses (hosts(5)).

import { isIP } from 'node:net'

export type HostsFile = ReadonlyMap<string, readonly string[]>

/** Addresses by name in lower case. Invalid lines are skipped, as resolvers do. */
export function parseHostsFile(text: string): HostsFile {
  const hosts = new Map<string, string[]>()
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
    if (isIP(address.replace(/%.*$/, '')) === 0) continue
    for (const name of names) {
      const key = name.toLowerCase()
      const known = hosts.get(key)
      if (!known) hosts.set(key, [address])
      else if (!known.includes(address)) known.push(address)
    }
  }
  return hosts
}

// Which peers may say where a request came from. Everybody can send X-Forwarded-… headers; only a proxy that was named
// is believed.

import { BlockList, isIP } from 'node:net'

export class TrustedProxies {
  readonly #list = new BlockList()
  readonly #known = new Map<string, boolean>()
  readonly isEmpty: boolean

  /** Addresses, or blocks as `10.0.0.0/8`; see `isAddressOrBlock`. */
  constructor(entries: readonly string[]) {
    this.isEmpty = entries.length === 0
    for (const entry of entries) {
      const [address, bits] = entry.split('/') as [string, string?]
      const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
      if (bits === undefined) this.#list.addAddress(address, family)
      else this.#list.addSubnet(address, Number(bits), family)
    }
  }

  has(address: string): boolean {
    if (this.isEmpty) return false
    const known = this.#known.get(address)
    if (known !== undefined) return known
    const family = isIP(address)
    const isTrusted = family !== 0 && this.#list.check(address, family === 6 ? 'ipv6' : 'ipv4')
    if (this.#known.size >= 1000) this.#known.clear()
    this.#known.set(address, isTrusted)
    return isTrusted
  }

  /**
   * The client of a request that came from `peer`: read from the right, the first address in X-Forwarded-For that is no
   * proxy of ours. What stands left of it, the client may have made up.
   */
  findClient(peer: string, forwardedFor: string | undefined): string {
    let client = peer
    const hops = forwardedFor === undefined ? [] : forwardedFor.split(',').map(readHop).reverse()
    for (const hop of hops) {
      if (!this.has(client) || hop === undefined) break
      client = hop
    }
    return client
  }
}

export function isAddressOrBlock(text: string): boolean {
  const [, address, bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const family = isIP(address ?? '')
  return family !== 0 && (bits === undefined || Number(bits) <= (family === 6 ? 128 : 32))
}

/** IPv4 in its own form, also where a socket for both versions shows it as IPv6. */
export function plainAddress(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address
}

/** Some proxies add the port. */
function readHop(text: string): string | undefined {
  const hop = text.trim()
  const address = /^\[(.+)\](?::\d+)?$/.exec(hop)?.[1] ?? /^([\d.]+):\d+$/.exec(hop)?.[1] ?? hop
  return isIP(address) === 0 ? undefined : plainAddress(address)
}

// The lists of networks that decide which IP addresses a camera URL may lead to (IANA special-purpose registries, RFC
// 6890).

import { BlockList, isIP } from 'node:net'

export class AddressBlocks {
  /**
   * There is one list per address family: in a shared list, a rule for mapped addresses would match every IPv4 address.
   */
  readonly #lists = { 4: new BlockList(), 6: new BlockList() }

  /** Takes IP addresses and blocks such as `10.0.0.0/8`. */
  constructor(entries: readonly string[]) {
    for (const entry of entries) {
      const [address = '', bits] = entry.split('/')
      const family = isIP(address) === 6 ? 6 : 4
      const type = family === 6 ? 'ipv6' : 'ipv4'
      if (bits === undefined) this.#lists[family].addAddress(address, type)
      else this.#lists[family].addSubnet(address, Number(bits), type)
    }
  }

  /** Accepts any valid spelling of an IP address. */
  has(address: string): boolean {
    const family = isIP(address) === 6 ? 6 : 4
    return this.#lists[family].check(address, family === 6 ? 'ipv6' : 'ipv4')
  }
}

export const loopback: readonly string[] = ['127.0.0.0/8', '::1']

/**
 * Networks without cameras: other names of this machine, multicast and broadcast addresses, and metadata services that
 * give cloud machines their credentials.
 */
export const reserved: readonly string[] = [
  '0.0.0.0/8',
  '100.100.100.200',
  '168.63.129.16',
  '169.254.0.0/16',
  '192.0.0.192',
  '224.0.0.0/4',
  '240.0.0.0/4',
  'fd00:ec2::254',
  'fd20:ce::254',
  'fe80::/10',
  'ff00::/8',
  // IPv6 addresses that contain an IPv4 address: compatible (including ::1, which counts as loopback), mapped,
  // translated, NAT64, 6to4 and Teredo.
  '::/96',
  '::ffff:0:0/96',
  '::ffff:0:0:0/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '2002::/16',
  '2001::/32',
]

/**
 * Private networks of homes, companies and providers. Most cameras are in these, next to many devices that strangers
 * must not reach.
 */
export const privateNetworks: readonly string[] = [
  '10.0.0.0/8',
  '100.64.0.0/10',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  'fc00::/7',
  'fec0::/10',
]

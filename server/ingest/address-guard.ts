// Decides where a camera URL may lead. A user names the host, so without this the server could be made to talk to itself and to
// services inside its network: names are resolved once, every address is tested, and the tested address is the one to connect to.
// Tests addresses after resolving, because `rtsp://2130706433/` and `rtsp://0x7f.1/` are spellings of 127.0.0.1 too.

import { lookup } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { AppError } from '../base/error.ts'

export type TestedAddress = { readonly address: string; readonly family: 4 | 6 }

export type AddressGuard = {
  /**
   * The address to connect to. `host` is a name or an address in any spelling, with or without brackets.
   * @throws AppError 'invalid' when the address or port is not allowed (the text does not tell what is there),
   *   'unavailable' when the name can't be resolved
   */
  resolve(host: string, port: number): Promise<TestedAddress>
}

export type AddressGuardOptions = {
  /** Allows this machine's own addresses: for tests, the demo, and relays on the same machine. */
  readonly allowLoopback: boolean
  readonly forbiddenPorts?: ReadonlySet<number>
  /** All addresses of a name; the system's resolver by default. */
  readonly lookupAll?: (host: string) => Promise<readonly { address: string; family: number }[]>
  /** Addresses this machine listens on; its interfaces by default. */
  readonly listOwnAddresses?: () => readonly string[]
}

/** Services that speak no RTSP and do harm when spoken to. */
const servicePorts: ReadonlySet<number> = new Set([
  22, 23, 25, 53, 110, 143, 389, 445, 465, 587, 2375, 2376, 3306, 5432, 6379, 9200, 11211, 27017,
])

export function createAddressGuard(options: AddressGuardOptions): AddressGuard {
  const { allowLoopback, forbiddenPorts = servicePorts } = options
  const { lookupAll = systemLookup, listOwnAddresses = interfaceAddresses } = options
  const refused = { 4: createBlockList(refusedV4, 'ipv4'), 6: createBlockList(refusedV6, 'ipv6') }
  const loopback = { 4: createBlockList(loopbackV4, 'ipv4'), 6: createBlockList(loopbackV6, 'ipv6') }

  const isAllowed = ({ address, family }: TestedAddress) => {
    const type = family === 4 ? 'ipv4' : 'ipv6'
    if (refused[family].check(address, type)) return false
    return allowLoopback || !(loopback[family].check(address, type) || listOwnAddresses().includes(address))
  }

  return {
    async resolve(host, port) {
      if (forbiddenPorts.has(port)) throw new AppError('invalid', `port ${port} is not allowed for cameras`)
      const found = (await findAddresses(host, lookupAll)).map(toTested)
      // One refused address refuses the name: an answer that mixes them is an attempt to get past this test.
      if (found.length === 0 || !found.every(isAllowed)) {
        throw new AppError(
          'invalid',
          'the address of this camera is not allowed: it leads to this server or a reserved network',
        )
      }
      return found.find(({ family }) => family === 4) ?? found[0]!
    },
  }
}

async function findAddresses(host: string, lookupAll: NonNullable<AddressGuardOptions['lookupAll']>) {
  const name = host.replace(/^\[(.*)\]$/, '$1')
  try {
    return await lookupAll(name)
  } catch (error) {
    throw new AppError('unavailable', `the host name ${JSON.stringify(name)} is not known`, { cause: error })
  }
}

function toTested({ address }: { address: string }): TestedAddress {
  const plain = address.replace(/%.*$/, '')
  return { address: plain, family: isIP(plain) === 6 ? 6 : 4 }
}

function systemLookup(host: string) {
  return lookup(host, { all: true, order: 'verbatim' })
}

function interfaceAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((list = []) => list.map(({ address }) => address))
}

type Subnet = readonly [network: string, prefixBits: number]

const loopbackV4: readonly Subnet[] = [['127.0.0.0', 8]]
const loopbackV6: readonly Subnet[] = [['::1', 128]]

const refusedV4: readonly Subnet[] = [
  ['0.0.0.0', 8],
  ['169.254.0.0', 16],
  ['100.100.100.200', 32],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]

/** Besides the reserved networks, those that carry an IPv4 address inside: mapped, compatible, NAT64, 6to4 and Teredo. */
const refusedV6: readonly Subnet[] = [
  ['::', 128],
  ['::ffff:0:0', 96],
  ['::ffff:0:0:0', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['2002::', 16],
  ['2001::', 32],
  ['fd00:ec2::254', 128],
  ['fe80::', 10],
  ['ff00::', 8],
]

/** One list per family: in a common one a rule for mapped addresses would match every IPv4 address. */
function createBlockList(subnets: readonly Subnet[], type: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList()
  for (const [network, prefixBits] of subnets) list.addSubnet(network, prefixBits, type)
  // ::/96 holds the IPv4-compatible addresses, but also ::1, which the loopback rule decides.
  if (type === 'ipv6' && subnets === refusedV6) list.addRange('::2', '::ffff:ffff', 'ipv6')
  return list
}

// Decides where a camera URL may lead. Users choose the host, so without this check a user could make the server
// connect to itself or to services in its network. A name is resolved once, every resulting IP address is checked, and
// the connection goes to a checked IP address. The check follows the resolution because `rtsp://2130706433/` and
// `rtsp://0x7f.1/` are also spellings of 127.0.0.1.

import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { AppError } from '../../base/error.ts'
import { isLocalhost, readAddressLiteral, unbracket } from '../../base/names/address-literal.ts'
import { type LookupOptions, NameResolver } from '../../base/names/name-resolver.ts'
import { AddressBlocks, loopback, privateNetworks, reserved } from './address-blocks.ts'

export type TestedAddress = {
  readonly address: string
  readonly family: 4 | 6
  /** Anyone can reach this IP address without the server, so what answers there is not confidential. */
  readonly isPublic: boolean
}

export type AddressGuard = {
  /**
   * Resolves the IP address to connect to. `host` is a name or an IP address in any spelling, with or without brackets.
   * @throws AppError 'invalid' if the IP address or port is not allowed (the message does not reveal what is there),
   *   'unavailable' if the name cannot be resolved; the signal's reason if it aborts
   */
  resolve(host: string, port: number, options?: LookupOptions): Promise<TestedAddress>
}

/** Checks a host as it is written, before any connection. */
export type AddressCheck = {
  /**
   * Refuses a host that is not allowed as it is written, before any connection: an IP address in any spelling,
   * `localhost`, the server's own name, or the port of another service. Other names pass, because the IP address behind
   * a name may change. The check is synchronous and does not use the resolver.
   * @throws AppError 'invalid' with the message of `resolve`
   */
  check(host: string, port: number): void
}

/** What the server allows, as plain data. */
export type AddressRules = {
  /** Allows this machine's own IP addresses. Used by tests, the demo, and relays on the same machine. */
  readonly allowLoopback: boolean
  /** The private networks that cameras may be in, as IP addresses and blocks. Default: all private networks. */
  readonly allowedPrivate?: readonly string[] | undefined
  /** Where this server itself is reachable. Refused even if loopback is allowed. */
  readonly self?: { readonly listenPort: number; readonly publicHost: string; readonly publicPort: number }
}

export type AddressGuardOptions = AddressRules & {
  /** Returns all IP addresses of a name. Default: a separate resolver. */
  readonly lookupAll?: LookupAll
  /** The IP addresses this machine listens on. Default: those of its network interfaces. */
  readonly listOwnAddresses?: () => readonly string[]
}

type LookupAll = (
  host: string,
  options?: LookupOptions,
) => Promise<readonly { readonly address: string; readonly family: number }[]>

/** Ports of services that do not speak RTSP and may be harmed by a request. */
const servicePorts: ReadonlySet<number> = new Set([
  22, 23, 25, 53, 110, 143, 389, 445, 465, 587, 2375, 2376, 3306, 5432, 6379, 9200, 11211, 27017,
])

/** Whether the port belongs to a service that is never a camera, whatever the host. */
export function isServicePort(port: number): boolean {
  return servicePorts.has(port)
}

/** Returns the same guard, with name lookups counted for this account. */
export function guardFor(account: number, guard: AddressGuard): AddressGuard {
  return { resolve: (host, port, options) => guard.resolve(host, port, { ...options, account }) }
}

export function createAddressGuard(options: AddressGuardOptions): AddressGuard & AddressCheck {
  const { allowLoopback, allowedPrivate, self } = options
  const { lookupAll = createLookup(), listOwnAddresses = interfaceAddresses } = options
  const networks = {
    reserved: new AddressBlocks(reserved),
    loopback: new AddressBlocks(loopback),
    private: new AddressBlocks(privateNetworks),
    allowedPrivate: new AddressBlocks(allowedPrivate ?? privateNetworks),
  }
  const refusal =
    allowedPrivate === undefined
      ? 'it leads to this server or a reserved network'
      : 'it leads to this server, or to a private or reserved network'

  let lastEndpoint: Awaited<ReturnType<LookupAll>> = []

  const isThisMachine = (address: string, ownAddresses: AddressBlocks) =>
    networks.loopback.has(address) || ownAddresses.has(address)

  const isAllowed = (address: string, port: number, ownAddresses: AddressBlocks) => {
    if (isThisMachine(address, ownAddresses))
      return allowLoopback && port !== self?.listenPort && port !== self?.publicPort
    if (networks.reserved.has(address)) return false
    return !networks.private.has(address) || networks.allowedPrivate.has(address)
  }

  /** The server's own public endpoint. Behind a router, its IP address may differ from those of this machine. */
  const findPublicAddresses = async (port: number) => {
    if (self === undefined || port !== self.publicPort) return []
    // A temporary failure of the name server must not allow the connection.
    lastEndpoint = await lookupAll(unbracket(self.publicHost)).catch(() => lastEndpoint)
    return lastEndpoint
  }

  const checkPort = (port: number) => {
    if (isServicePort(port)) throw new AppError('invalid', `port ${port} is not allowed for cameras`)
  }
  const refuse = () => new AppError('invalid', `the URL of this camera is not allowed: ${refusal}`)

  return {
    async resolve(host, port, lookupOptions) {
      checkPort(port)
      const [found, ownEndpoint] = await Promise.all([
        findAddresses(unbracket(host), lookupAll, lookupOptions),
        findPublicAddresses(port),
      ])
      const tested = found.map(toTested)
      const own = new AddressBlocks(listOwnAddresses())
      const endpoint = new AddressBlocks(ownEndpoint.map((found) => toTested(found).address))
      const isRefused = ({ address }: Plain) => endpoint.has(address) || !isAllowed(address, port, own)
      // One refused IP address refuses the name, because an answer that mixes allowed and refused ones is an attempt to
      // bypass this check.
      if (tested.length === 0 || tested.some(isRefused)) throw refuse()
      const chosen = tested.find(({ family }) => family === 4) ?? tested[0]!
      const isClosed = networks.private.has(chosen.address) || isThisMachine(chosen.address, own)
      return { ...chosen, isPublic: !isClosed }
    },

    check(host, port) {
      checkPort(port)
      const address = readAddress(host)
      const isOwnEndpoint = port === self?.publicPort && isSameHost(host, self.publicHost)
      if (isOwnEndpoint || (address && !isAllowed(address, port, new AddressBlocks(listOwnAddresses())))) throw refuse()
    },
  }
}

async function findAddresses(name: string, lookupAll: LookupAll, options: LookupOptions | undefined) {
  try {
    return await lookupAll(name, options)
  } catch (error) {
    options?.signal?.throwIfAborted()
    // The default resolver's error already states the cause.
    if (error instanceof AppError) throw error
    throw new AppError('unavailable', `the host name ${JSON.stringify(name)} is not known`, { cause: error })
  }
}

/** The IP address that a host denotes without a lookup; undefined for a name. */
function readAddress(host: string): string | undefined {
  return isLocalhost(host) ? '127.0.0.1' : readAddressLiteral(host)
}

function isSameHost(a: string, b: string): boolean {
  const plain = (host: string) => (readAddress(host) ?? host).replace(/\.$/, '').toLowerCase()
  return plain(a) === plain(b)
}

type Plain = Omit<TestedAddress, 'isPublic'>

function toTested({ address }: { readonly address: string }): Plain {
  const plain = withoutZone(address)
  return { address: plain, family: isIP(plain) === 6 ? 6 : 4 }
}

function withoutZone(address: string): string {
  return address.replace(/%.*$/, '')
}

function createLookup(): LookupAll {
  const names = new NameResolver()
  return (host, options) => names.lookup(host, options)
}

function interfaceAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((list = []) => list.map(({ address }) => withoutZone(address)))
}

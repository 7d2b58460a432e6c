// Decides where a camera URL may lead. A user names the host, so without this the server could be made to talk to
// itself and to services inside its network: names are resolved once, every address is tested, and the tested address
// is the one to connect to. Tests addresses after resolving, because `rtsp://2130706433/` and `rtsp://0x7f.1/` are
// spellings of 127.0.0.1 too.

import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { AppError } from '../../base/error.ts'
import { isLocalhost, readAddressLiteral, unbracket } from '../../base/names/address-literal.ts'
import { type LookupOptions, NameResolver } from '../../base/names/name-resolver.ts'
import { AddressBlocks, loopback, privateNetworks, reserved } from './address-blocks.ts'

export type TestedAddress = {
  readonly address: string
  readonly family: 4 | 6
  /** Anybody can reach it without this server, so what is there is no secret. */
  readonly isPublic: boolean
}

export type AddressGuard = {
  /**
   * The address to connect to. `host` is a name or an address in any spelling, with or without brackets.
   * @throws AppError 'invalid' when the address or port is not allowed (the text does not tell what is there),
   *   'unavailable' when the name can't be resolved; the signal's reason when it aborts
   */
  resolve(host: string, port: number, options?: LookupOptions): Promise<TestedAddress>
}

/** Tests an address as it is written, before anybody connects to it. */
export type AddressCheck = {
  /**
   * Whether the host can be refused as it is written, before anybody connects: an address in any spelling, `localhost`,
   * the server's own name, or the port of another service. Other names pass, since what they lead to may change. It
   * uses no resolver and waits for nothing.
   * @throws AppError 'invalid' with the text that `resolve` has
   */
  check(host: string, port: number): void
}

/** What a server allows, as plain data. */
export type AddressRules = {
  /** Allows this machine's own addresses: for tests, the demo, and relays on the same machine. */
  readonly allowLoopback: boolean
  /** The private networks that cameras may be in, as addresses and blocks; all of them when missing. */
  readonly allowedPrivate?: readonly string[] | undefined
  /** Where this server is reached itself: refused even where loopback is allowed. */
  readonly self?: { readonly listenPort: number; readonly publicHost: string; readonly publicPort: number }
}

export type AddressGuardOptions = AddressRules & {
  /** All addresses of a name; a resolver of its own by default. */
  readonly lookupAll?: LookupAll
  /** Addresses this machine listens on; its interfaces by default. */
  readonly listOwnAddresses?: () => readonly string[]
}

type LookupAll = (
  host: string,
  options?: LookupOptions,
) => Promise<readonly { readonly address: string; readonly family: number }[]>

/** Services that speak no RTSP and do harm when spoken to. */
const servicePorts: ReadonlySet<number> = new Set([
  22, 23, 25, 53, 110, 143, 389, 445, 465, 587, 2375, 2376, 3306, 5432, 6379, 9200, 11211, 27017,
])

/** Whether the port belongs to something that is no camera, wherever it is. */
export function isServicePort(port: number): boolean {
  return servicePorts.has(port)
}

/** The same guard, looking names up on behalf of this account. */
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

  let lastDoors: Awaited<ReturnType<LookupAll>> = []

  const isThisMachine = (address: string, ownAddresses: AddressBlocks) =>
    networks.loopback.has(address) || ownAddresses.has(address)

  const isAllowed = (address: string, port: number, ownAddresses: AddressBlocks) => {
    if (isThisMachine(address, ownAddresses))
      return allowLoopback && port !== self?.listenPort && port !== self?.publicPort
    if (networks.reserved.has(address)) return false
    return !networks.private.has(address) || networks.allowedPrivate.has(address)
  }

  /**
   * The server's own door, seen from outside: through a router it may have another address than any of this machine.
   */
  const findPublicAddresses = async (port: number) => {
    if (self === undefined || port !== self.publicPort) return []
    // A name server that fails for a moment does not open the door.
    lastDoors = await lookupAll(unbracket(self.publicHost)).catch(() => lastDoors)
    return lastDoors
  }

  const checkPort = (port: number) => {
    if (isServicePort(port)) throw new AppError('invalid', `port ${port} is not allowed for cameras`)
  }
  const refuse = () => new AppError('invalid', `the address of this camera is not allowed: ${refusal}`)

  return {
    async resolve(host, port, lookupOptions) {
      checkPort(port)
      const [found, ownDoors] = await Promise.all([
        findAddresses(unbracket(host), lookupAll, lookupOptions),
        findPublicAddresses(port),
      ])
      const tested = found.map(toTested)
      const own = new AddressBlocks(listOwnAddresses())
      const doors = new AddressBlocks(ownDoors.map((door) => toTested(door).address))
      const isRefused = ({ address }: Plain) => doors.has(address) || !isAllowed(address, port, own)
      // One refused address refuses the name: an answer that mixes them is an attempt to get past this test.
      if (tested.length === 0 || tested.some(isRefused)) throw refuse()
      const chosen = tested.find(({ family }) => family === 4) ?? tested[0]!
      const isClosed = networks.private.has(chosen.address) || isThisMachine(chosen.address, own)
      return { ...chosen, isPublic: !isClosed }
    },

    check(host, port) {
      checkPort(port)
      const address = readAddress(host)
      const isOwnDoor = port === self?.publicPort && isSameHost(host, self.publicHost)
      if (isOwnDoor || (address && !isAllowed(address, port, new AddressBlocks(listOwnAddresses())))) throw refuse()
    },
  }
}

async function findAddresses(name: string, lookupAll: LookupAll, options: LookupOptions | undefined) {
  try {
    return await lookupAll(name, options)
  } catch (error) {
    options?.signal?.throwIfAborted()
    // Our own resolver says why.
    if (error instanceof AppError) throw error
    throw new AppError('unavailable', `the host name ${JSON.stringify(name)} is not known`, { cause: error })
  }
}

/** The address that a host stands for without a resolver; undefined for a name. */
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

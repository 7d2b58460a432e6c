// Discovers cameras in the local networks with WS-Discovery: sends probes to a multicast address and collects the
// responses for several seconds. Responses are not trusted: every URL is checked like any other camera URL.

import { randomUUID } from 'node:crypto'
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { Clock } from '../../base/clock.ts'
import { errorChain } from '../../base/error.ts'
import type { Logger } from '../../base/log.ts'
import { parseCameraUrl } from '../../model/camera-url.ts'
import type { AddressGuard } from '../network/address-guard.ts'
import { parseCameraUrl as parseTarget } from '../network/camera-url.ts'
import { type DiscoveryMatch, parseProbeMatches, writeProbe } from './discovery-message.ts'
import { XmlBudget } from './xml.ts'

export type DiscoveredDevice = Omit<DiscoveryMatch, 'urls'> & {
  /** URL of the device service. */
  readonly url: string
  /** IP address from which the response came. */
  readonly address: string
}

export type DiscoverOptions = {
  readonly addressGuard: AddressGuard
  readonly clock: Clock
  readonly log: Logger
  readonly signal: AbortSignal
  /** Whether to search this machine as well, which is only useful in tests. */
  readonly includesLoopback: boolean
  readonly listenMs?: number
  /** The local IP addresses of the networks to search. Default: all. */
  readonly ownAddresses?: readonly string[]
  /** Where probes are sent. Default: the multicast group of WS-Discovery. */
  readonly destination?: { readonly address: string; readonly port: number }
}

const group = { address: '239.255.255.250', port: 3702 }

/** Devices respond within half a second. Probes are sent more than once because they may be lost. */
const defaultListenMs = 3000
const probeAtMs = [0, 400, 1200]

const maxDevices = 256
const maxDatagrams = 2000

/** Returns the devices in the order of their IP addresses. Rejects only with the signal's reason, when it aborts. */
export async function discoverDevices(options: DiscoverOptions): Promise<DiscoveredDevice[]> {
  const { addressGuard, clock, signal, listenMs = defaultListenMs } = options
  const sockets = new DiscoverySockets(options)
  try {
    await sockets.open()
    let sentMs = 0
    for (const [index, atMs] of probeAtMs.entries()) {
      await clock.sleep(Math.min(atMs, listenMs) - sentMs, signal)
      sentMs = Math.min(atMs, listenMs)
      sockets.sendProbes(index > 0)
    }
    await clock.sleep(listenMs - sentMs, signal)
  } finally {
    sockets.close()
  }
  const checked = await Promise.all([...sockets.found.values()].map((each) => checkResponse(each, addressGuard)))
  return checked
    .filter((device) => device !== undefined)
    .sort((a, b) => a.address.localeCompare(b.address, 'en', { numeric: true }))
}

type ProbeResponse = { readonly match: DiscoveryMatch; readonly from: string }

class DiscoverySockets {
  /** Responses by the id of the device. */
  readonly found = new Map<string, ProbeResponse>()
  readonly #options: DiscoverOptions
  readonly #messageIds = new Set<string>()
  readonly #sockets: Socket[] = []
  readonly #budget = new XmlBudget(100_000)
  #datagrams = 0

  constructor(options: DiscoverOptions) {
    this.#options = options
  }

  /**
   * Opens one socket for each network, because a multicast packet leaves through one interface. Networks that fail are
   * skipped.
   */
  async open(): Promise<void> {
    const { ownAddresses, includesLoopback } = this.#options
    for (const address of ownAddresses ?? listAddresses(includesLoopback)) {
      const socket = await bind(address)
      if (!socket) continue
      socket.on('message', (bytes, from) => this.#take(bytes, from))
      socket.on('error', (error) =>
        this.#options.log.debug({ cause: errorChain(error) }, 'the discovery of cameras failed on a network'),
      )
      this.#sockets.push(socket)
    }
  }

  sendProbes(isForAll: boolean): void {
    const { address, port } = this.#options.destination ?? group
    for (const socket of this.#sockets) {
      const messageId = randomUUID()
      this.#messageIds.add(messageId)
      // The send may fail on a single network, which is not reported.
      socket.send(writeProbe(messageId, isForAll), port, address, () => {})
    }
  }

  close(): void {
    for (const socket of this.#sockets) socket.close()
  }

  #take(bytes: Uint8Array, { address }: RemoteInfo): void {
    if (++this.#datagrams > maxDatagrams) return
    try {
      for (const match of parseProbeMatches(bytes, this.#messageIds, this.#budget)) {
        if (this.found.size < maxDevices && !this.found.has(match.id))
          this.found.set(match.id, { match, from: address })
      }
    } catch (error) {
      this.#options.log.debug({ cause: errorChain(error) }, 'a discovery response could not be parsed')
    }
  }
}

/**
 * Returns the device with the first of its URLs that is allowed. URLs with the IP address from which it responded are
 * preferred. Undefined if no URL is allowed.
 */
async function checkResponse(
  { match: { urls, ...match }, from }: ProbeResponse,
  addressGuard: AddressGuard,
): Promise<DiscoveredDevice | undefined> {
  const isSame = (url: string) => URL.parse(url)?.hostname === from
  for (const listed of [...urls.filter(isSame), ...urls.filter((url) => !isSame(url))]) {
    try {
      const { url } = parseCameraUrl(listed)
      const { host, port } = parseTarget(url)
      // Devices send IP addresses. Resolving names could take very long if the response is malicious.
      if (isIP(host.replace(/^\[(.*)\]$/, '$1')) === 0) continue
      await addressGuard.resolve(host, port)
      return { ...match, url, address: from }
    } catch {
      // This URL is not allowed for cameras, so the next one is tried.
    }
  }
  return undefined
}

function listAddresses(includesLoopback: boolean): string[] {
  return Object.values(networkInterfaces())
    .flatMap((list = []) => list)
    .filter(({ family, internal }) => family === 'IPv4' && (includesLoopback || !internal))
    .map(({ address }) => address)
}

function bind(address: string): Promise<Socket | undefined> {
  const socket = createSocket('udp4')
  return new Promise((resolve) => {
    const finish = (bound: Socket | undefined) => {
      socket.removeAllListeners('error')
      if (!bound) socket.close()
      resolve(bound)
    }
    socket.once('error', () => finish(undefined))
    socket.bind({ port: 0, address }, () => {
      try {
        socket.setMulticastInterface(address)
        socket.setMulticastTTL(1)
        finish(socket)
      } catch {
        finish(undefined)
      }
    })
  })
}

// Asks the local networks which cameras are there (WS-Discovery: a question to a multicast address, answers from
// whoever is), for some seconds. What answers is believed in nothing but where it is, and that is tested like every
// address of a camera.

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
  /** Of its device service. */
  readonly url: string
  /** Where its answer came from. */
  readonly address: string
}

export type DiscoverOptions = {
  readonly addressGuard: AddressGuard
  readonly clock: Clock
  readonly log: Logger
  readonly signal: AbortSignal
  /** Includes this machine itself, where cameras are only in tests. */
  readonly isLoopbackAsked: boolean
  readonly listenMs?: number
  /** Our own addresses on the networks that are asked; all there are when missing. */
  readonly ownAddresses?: readonly string[]
  /** Where the question goes; to the group of such devices when missing. */
  readonly destination?: { readonly address: string; readonly port: number }
}

const group = { address: '239.255.255.250', port: 3702 }

/** Devices answer within half a second; the question may be lost, so it is asked more than once. */
const usualListenMs = 3000
const askAtMs = [0, 400, 1200]

const maxDevices = 256
const maxDatagrams = 2000

/** Rejects only with the signal's reason, when it aborts. In the order of their addresses. */
export async function discoverDevices(options: DiscoverOptions): Promise<DiscoveredDevice[]> {
  const { addressGuard, clock, signal, listenMs = usualListenMs } = options
  const listening = new Listening(options)
  try {
    await listening.open()
    let askedMs = 0
    for (const [index, atMs] of askAtMs.entries()) {
      await clock.sleep(Math.min(atMs, listenMs) - askedMs, signal)
      askedMs = Math.min(atMs, listenMs)
      listening.ask(index > 0)
    }
    await clock.sleep(listenMs - askedMs, signal)
  } finally {
    listening.close()
  }
  const checked = await Promise.all([...listening.found.values()].map((answer) => checkAnswer(answer, addressGuard)))
  return checked
    .filter((device) => device !== undefined)
    .sort((a, b) => a.address.localeCompare(b.address, 'en', { numeric: true }))
}

type Answer = { readonly match: DiscoveryMatch; readonly from: string }

class Listening {
  /** By the id of the device. */
  readonly found = new Map<string, Answer>()
  readonly #options: DiscoverOptions
  readonly #messageIds = new Set<string>()
  readonly #sockets: Socket[] = []
  readonly #budget = new XmlBudget(100_000)
  #datagrams = 0

  constructor(options: DiscoverOptions) {
    this.#options = options
  }

  /** One socket for each network, because a multicast leaves by one. A network that is not to be had is passed over. */
  async open(): Promise<void> {
    const { ownAddresses, isLoopbackAsked } = this.#options
    for (const address of ownAddresses ?? listAddresses(isLoopbackAsked)) {
      const socket = await bind(address)
      if (!socket) continue
      socket.on('message', (bytes, from) => this.#take(bytes, from))
      socket.on('error', (error) =>
        this.#options.log.debug({ cause: errorChain(error) }, 'discovery on a network failed'),
      )
      this.#sockets.push(socket)
    }
  }

  ask(isForAll: boolean): void {
    const { address, port } = this.#options.destination ?? group
    for (const socket of this.#sockets) {
      const messageId = randomUUID()
      this.#messageIds.add(messageId)
      // What cannot be sent is missed by nobody.
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
      this.#options.log.debug({ cause: errorChain(error) }, 'a response to discovery could not be parsed')
    }
  }
}

/**
 * The first of its addresses that cameras may be at, that it answered from before others. Undefined when there is none.
 */
async function checkAnswer(
  { match: { urls, ...match }, from }: Answer,
  addressGuard: AddressGuard,
): Promise<DiscoveredDevice | undefined> {
  const isSame = (url: string) => URL.parse(url)?.hostname === from
  for (const told of [...urls.filter(isSame), ...urls.filter((url) => !isSame(url))]) {
    try {
      const { url } = parseCameraUrl(told)
      const { host, port } = parseTarget(url)
      // Devices tell addresses; a name would have to be asked for, and whoever answers could make that take for ever.
      if (isIP(host.replace(/^\[(.*)\]$/, '$1')) === 0) continue
      await addressGuard.resolve(host, port)
      return { ...match, url, address: from }
    } catch {
      // Nowhere a camera may be: the next.
    }
  }
  return undefined
}

function listAddresses(isLoopbackAsked: boolean): string[] {
  return Object.values(networkInterfaces())
    .flatMap((list = []) => list)
    .filter(({ family, internal }) => family === 'IPv4' && (isLoopbackAsked || !internal))
    .map(({ address }) => address)
}

function bind(address: string): Promise<Socket | undefined> {
  const socket = createSocket('udp4')
  return new Promise((resolve) => {
    const give = (bound: Socket | undefined) => {
      socket.removeAllListeners('error')
      if (!bound) socket.close()
      resolve(bound)
    }
    socket.once('error', () => give(undefined))
    socket.bind({ port: 0, address }, () => {
      try {
        socket.setMulticastInterface(address)
        socket.setMulticastTTL(1)
        give(socket)
      } catch {
        give(undefined)
      }
    })
  })
}

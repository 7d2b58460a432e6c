// Wires up what a server has of the others of its database: it is one of them, asks those that have cameras, and is
// asked.

import { readFileSync } from 'node:fs'
import { availableParallelism, hostname } from 'node:os'
import type { Api } from './api/api.ts'
import { Forwarder } from './api/peers/forwarder.ts'
import { Membership, type Peer, toPeer } from './api/peers/membership.ts'
import { PeerFiles } from './api/peers/peer-files.ts'
import { makePeerIdentity } from './api/peers/peer-identity.ts'
import { PeerPort } from './api/peers/peer-port.ts'
import type { SecretKey } from './auth/secret-key.ts'
import type { Clock } from './base/clock.ts'
import { AppError, errorChain } from './base/error.ts'
import type { Logger } from './base/log.ts'
import type { Config } from './config.ts'
import { parsePeerAddress } from './model/peer-address.ts'
import { listNodes } from './store/server/placements.ts'
import type { Store } from './store/store.ts'
import { readVersion } from './version.ts'

export type PeersOptions = {
  readonly config: Config
  readonly store: Store
  readonly secretKey: SecretKey
  /** That of the machine. */
  readonly clock: Clock
  readonly log: Logger
}

/** Registers the server, and throws like `Membership.join`. Dispose to sign off. */
export async function openPeers({ config, store, secretKey, clock, log }: PeersOptions) {
  const { nodeName: name, peerAddress, data } = config
  const identity = await makePeerIdentity(secretKey.deriveKey('servers'), name)
  const address = peerAddress === undefined ? undefined : parsePeerAddress(peerAddress)
  const membership = await Membership.join({
    rows: store.nodes,
    leases: store.leases,
    self: {
      ...{ name, holder: `on ${describeMachine()}, data in ${data}`, address: peerAddress ?? null },
      ...{ hasCameras: !config.noCameras, processors: availableParallelism(), version: readVersion() },
    },
    clock,
    log,
  })
  const forwarder = new Forwarder({
    findServer: (cameraId) => findServer(membership, cameraId),
    findEpoch: (cameraId) => membership.findEpoch(cameraId),
    identity,
    log,
  })
  const canBeAsked = address !== undefined
  const leaveStore = store.onChange((change) => {
    if (change !== 'camera_leases' && change !== 'foreign') return
    void membership.readLeases().catch((error) => {
      log.warn({ error: errorChain(error) }, 'which server has which camera could not be read')
    })
  })
  return {
    ownName: name,
    membership,
    files: new PeerFiles({
      listPlaces: () => store.places.list(),
      findPeer: (other) => membership.find(other),
      forwarder,
    }),
    find: (other: string) => membership.find(other),
    findOwner: (cameraId: number) => membership.findOwner(cameraId),
    findServerName(cameraId: number) {
      const owner = membership.findOwner(cameraId)
      return owner === 'this' ? (canBeAsked ? name : undefined) : owner?.name
    },
    list: () => listNodes(store),
    async readMetrics() {
      const others = (await store.nodes.list()).filter((other) => other.isAlive && other.name !== name)
      return Promise.all(
        others.map(async (other) => {
          const peer = toPeer(other)
          return { name: other.name, text: peer && (await forwarder.read(peer, '/metrics').catch(() => undefined)) }
        }),
      )
    },
    forward: forwarder.forward.bind(forwarder),
    // Where nobody can be asked, no other server has cameras.
    follow: canBeAsked ? forwarder.follow.bind(forwarder) : () => undefined,
    lost: membership.lost,
    size: () => membership.size,
    run: (signal: AbortSignal) => membership.run(signal),
    /** Lets other servers ask `api`, until the result is disposed of. Throws 'unavailable'. */
    async listen(api: Pick<Api, 'answerPeers'>): Promise<AsyncDisposable> {
      if (!address) return new AsyncDisposableStack()
      const port = new PeerPort({ address, identity, log })
      api.answerPeers(port.server)
      await port.listen()
      return port
    },
    async [Symbol.asyncDispose](): Promise<void> {
      leaveStore()
      forwarder[Symbol.dispose]()
      await membership[Symbol.asyncDispose]()
    },
  }
}

/** Copies of a machine have the same name, and what tells them apart is known where there is Linux. */
function describeMachine(): string {
  try {
    return `${hostname()} (boot ${readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').slice(0, 8)})`
  } catch {
    return hostname()
  }
}

/** Throws 'unavailable'. */
function findServer(membership: Membership, cameraId: number | undefined): Peer {
  const owner = cameraId === undefined ? undefined : membership.findOwner(cameraId)
  if (owner === 'this' && membership.own) return membership.own
  if (cameraId === undefined || owner === 'this') return membership.findCameraServer()
  if (owner) return owner
  throw new AppError('unavailable', 'no server has this camera at the moment')
}

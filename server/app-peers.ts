// Wires up what a server has of the others of its database: it is one of them, asks the one with the cameras, and is
// asked.

import { hostname } from 'node:os'
import type { Api } from './api/api.ts'
import { Forwarder } from './api/peers/forwarder.ts'
import { Membership, toPeer } from './api/peers/membership.ts'
import { makePeerIdentity } from './api/peers/peer-identity.ts'
import { PeerPort } from './api/peers/peer-port.ts'
import type { SecretKey } from './auth/secret-key.ts'
import type { Clock } from './base/clock.ts'
import type { Logger } from './base/log.ts'
import type { Config } from './config.ts'
import { parsePeerAddress } from './model/peer-address.ts'
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
    self: {
      ...{ name, holder: `on ${hostname()}, data in ${data}`, address: peerAddress ?? null },
      ...{ hasCameras: !config.noCameras, version: readVersion() },
    },
    clock,
    log,
  })
  const forwarder = new Forwarder({ findServer: () => membership.findCameraServer(), identity, log })
  const canBeAsked = address !== undefined
  return {
    ownName: name,
    find: (other: string) => membership.find(other),
    findCameraServerName: () => {
      if (!config.noCameras) return canBeAsked ? name : undefined
      return membership.cameraServerName
    },
    list: () => store.nodes.list(),
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
      forwarder[Symbol.dispose]()
      await membership[Symbol.asyncDispose]()
    },
  }
}

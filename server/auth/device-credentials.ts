// From a camera's hash to the camera: the credential of devices that have no other. Known ones are answered from memory.

import { hash as digest } from 'node:crypto'
import type { RateState } from '../base/rate-limiter.ts'
import { VersionedCache } from '../store/engine/versioned-cache.ts'
import type { Store } from '../store/store.ts'
import { UnauthenticatedError } from './caller.ts'
import type { RateLimits } from './guard/rate-limits.ts'

export type DeviceCredentialsOptions = {
  readonly store: Pick<Store, 'cameras' | 'users' | 'version'>
  readonly limits: Pick<RateLimits, 'takeAddress' | 'giveBackAddress' | 'takeDevice'>
}

/** Told what the answer says about the limit of requests, each time that changes. */
type OnRate = (rate: RateState | undefined) => void

export class DeviceCredentials {
  readonly #options: DeviceCredentialsOptions
  readonly #known: VersionedCache<string, number | undefined>

  constructor(options: DeviceCredentialsOptions) {
    this.#options = options
    this.#known = new VersionedCache(options.store, { maxEntries: 10_000 })
  }

  /**
   * The camera whose hash was sent as the only credential. Guesses count against their address, as guesses of tokens do, from
   * before they are decided; a good hash against itself alone. Throws UnauthenticatedError and RateLimitError.
   */
  async authenticate(hash: unknown, ip: string, onRate: OnRate): Promise<number> {
    const { limits } = this.#options
    const known = typeof hash === 'string' ? this.#known.get(keyOf(hash)) : undefined
    if (known !== undefined) return this.#take(known, onRate)
    onRate(limits.takeAddress(ip))
    const found = typeof hash === 'string' ? await this.#find(hash) : undefined
    if (found === undefined) throw new UnauthenticatedError('neither credentials nor the hash of a camera were sent')
    limits.giveBackAddress(ip)
    return this.#take(found, onRate)
  }

  /** The camera, for a caller who has proved who they are besides; undefined for a hash that is none. Throws RateLimitError. */
  async findCamera(hash: string, onRate: OnRate): Promise<number | undefined> {
    const found = await this.#find(hash)
    return found === undefined ? undefined : this.#take(found, onRate)
  }

  #take(cameraId: number, onRate: OnRate): number {
    onRate(this.#options.limits.takeDevice(cameraId))
    return cameraId
  }

  async #find(hash: string): Promise<number | undefined> {
    if (!/^[0-9a-f]{32}$/.test(hash)) return undefined
    const { cameras, users } = this.#options.store
    return this.#known.load(keyOf(hash), async () => {
      const camera = await cameras.findByEventApiHash(hash)
      const owner = camera && (await users.find(camera.ownerId))
      return owner?.disabledAtMs === null ? camera?.id : undefined
    })
  }
}

/** What is kept in memory is no credential. */
const keyOf = (hash: string): string => digest('sha256', hash, 'hex')

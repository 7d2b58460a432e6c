// Finds the camera of an event hash, the credential of devices that have no other. Known hashes are cached.

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

/** Called with the state of the rate limit whenever it changes, for the response headers. */
type OnRate = (rate: RateState | undefined) => void

export class DeviceCredentials {
  readonly #options: DeviceCredentialsOptions
  readonly #known: VersionedCache<string, number | undefined>

  constructor(options: DeviceCredentialsOptions) {
    this.#options = options
    this.#known = new VersionedCache(options.store, { maxEntries: 10_000 })
  }

  /**
   * Returns the camera whose hash is the only credential of a request. A valid hash has its own rate limit. Guesses
   * count against the IP address, before they are checked. Throws UnauthenticatedError and RateLimitError.
   */
  async authenticate(hash: unknown, ip: string, onRate: OnRate): Promise<number> {
    const { limits } = this.#options
    const known = typeof hash === 'string' ? this.#known.get(keyOf(hash)) : undefined
    if (known !== undefined) return this.#take(known, onRate)
    onRate(limits.takeAddress(ip))
    const found = typeof hash === 'string' ? await this.#find(hash) : undefined
    if (found === undefined) throw new UnauthenticatedError('neither credentials nor a camera hash were sent')
    limits.giveBackAddress(ip)
    return this.#take(found, onRate)
  }

  /**
   * Returns the camera for a caller who is already authenticated, or undefined for an unknown hash. Throws
   * RateLimitError.
   */
  async findCamera(hash: string, onRate: OnRate): Promise<number | undefined> {
    const found = await this.#find(hash)
    return found === undefined ? undefined : this.#take(found, onRate)
  }

  async #take(cameraId: number, onRate: OnRate): Promise<number> {
    onRate(await this.#options.limits.takeDevice(cameraId))
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

/** The cache contains no credentials. */
const keyOf = (hash: string): string => digest('sha256', hash, 'hex')

// The URL that a browser returns to after sign-in. The browser carries it, sealed.

import type { LongPaths } from '../../auth/sessions/long-paths.ts'
import { SealedValues } from '../../auth/sessions/sealed-values.ts'
import type { Clock } from '../../base/clock.ts'
import { isLocalPath } from '../../model/local-path.ts'

export type ReturnTo = {
  readonly path: string
  /** The name of the application that started the sign-in. */
  readonly appName?: string | undefined
  /** True if the browser goes to the application in the end. */
  readonly leadsOut?: boolean | undefined
}

const lifetimeMs = 12 * 3_600_000
/** The value is sent in URLs and forms. Proxies allow 8 KiB for a URL and all else. */
const maxLength = 4096

export class ReturnToSealer {
  readonly #values: SealedValues<ReturnTo>
  readonly #paths: LongPaths

  /** `key` has 32 bytes and is used for nothing else. */
  constructor(key: Uint8Array, clock: Pick<Clock, 'nowMs'>, paths: LongPaths) {
    this.#paths = paths
    this.#values = new SealedValues({ key, clock, lifetimeMs, maxLength })
  }

  /**
   * Only the browser of `owner` can use the result, once `LongPaths.written` has resolved. Undefined if the path is not on
   * this server or too long.
   */
  seal(owner: string, returnTo: ReturnTo): string | undefined {
    return isLocalPath(returnTo.path) ? this.#values.seal(owner, this.shorten(returnTo)) : undefined
  }

  /** For a browser to carry in a URL, sealed. */
  shorten(returnTo: ReturnTo): ReturnTo {
    return { ...returnTo, path: this.#paths.shorten(returnTo.path) }
  }

  /** Undefined if the path is not kept any more. */
  async lengthen(returnTo: ReturnTo): Promise<ReturnTo | undefined> {
    const path = await this.#paths.find(returnTo.path)
    return path === undefined ? undefined : { ...returnTo, path }
  }

  /** For `lengthen`. Undefined if the value was not sealed here, belongs to another browser or has expired. Never throws. */
  open(owner: string, sealed: string): ReturnTo | undefined {
    return this.#values.open(owner, sealed)
  }
}

// The URL that a browser returns to after sign-in. The browser carries it, sealed.

import { SealedValues } from '../../auth/sessions/sealed-values.ts'
import type { Clock } from '../../base/clock.ts'
import { isLocalPath } from '../../model/local-path.ts'

export type ReturnTo = {
  readonly path: string
  /** The application that started the sign-in: its name and the URL that it is redirected to in the end. */
  readonly appName?: string | undefined
  readonly leadsTo?: string | undefined
}

const lifetimeMs = 12 * 3_600_000
/** The value is sent in URLs and forms, both of which are limited to 16 KiB. */
const maxLength = 8192

export class ReturnToSealer {
  readonly #values: SealedValues<ReturnTo>

  /** `key` has 32 bytes and is used for nothing else. */
  constructor(key: Uint8Array, clock: Pick<Clock, 'nowMs'>) {
    this.#values = new SealedValues({ key, clock, lifetimeMs, maxLength })
  }

  /** Only the browser of `owner` can use the result. Undefined if the path is not on this server or too long. */
  seal(owner: string, returnTo: ReturnTo): string | undefined {
    return isLocalPath(returnTo.path) ? this.#values.seal(owner, returnTo) : undefined
  }

  /** Undefined if the value was not sealed here, belongs to another browser or has expired. Never throws. */
  open(owner: string, sealed: string): ReturnTo | undefined {
    return this.#values.open(owner, sealed)
  }
}

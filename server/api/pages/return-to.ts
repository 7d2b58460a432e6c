// Where a browser wanted to go, while its user signs in: carried by the browser itself, sealed.

import { SealedValues } from '../../auth/sessions/sealed-values.ts'
import type { Clock } from '../../base/clock.ts'
import { isLocalPath } from '../../model/local-path.ts'

/** Where the browser goes after signing in. */
export type ReturnTo = {
  readonly path: string
  /** The application it comes from, by name and by the address it leads back to in the end. */
  readonly appName?: string | undefined
  readonly leadsTo?: string | undefined
}

const lifetimeMs = 12 * 3_600_000
/** It is in an address and in a form, both of which end at 16 KiB. */
const maxLength = 8192

export class ReturnToSealer {
  readonly #values: SealedValues<ReturnTo>

  /** `key`: 32 bytes, for this purpose alone. */
  constructor(key: Uint8Array, clock: Pick<Clock, 'nowMs'>) {
    this.#values = new SealedValues({ key, clock, lifetimeMs, maxLength })
  }

  /** For the browser whose `owner` it is alone. Undefined when it leads nowhere on this server, or is too long to be carried. */
  seal(owner: string, returnTo: ReturnTo): string | undefined {
    return isLocalPath(returnTo.path) ? this.#values.seal(owner, returnTo) : undefined
  }

  /** Undefined for what was not sealed here, is another browser's, or was too long ago. Never throws. */
  open(owner: string, sealed: string): ReturnTo | undefined {
    return this.#values.open(owner, sealed)
  }
}

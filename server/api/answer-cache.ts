// Answers kept as JSON while nothing they tell of has changed: the same caller asking the same again costs a look-up.
//
// An answer stands for one version of the store and one expiry of media tokens, so that the URLs in it are those a fresh one would
// carry.

import type { EndpointName } from '../../contract/endpoints.ts'
import type { Credential } from '../auth/caller.ts'
import { type MediaTokens, mediaTokenSlotMs } from '../auth/media-token.ts'
import { VersionedCache, type VersionedSource } from '../store/versioned-cache.ts'

const maxEntries = 4096
const maxUrlLength = 512

export type AnswerCacheOptions = {
  readonly store: VersionedSource
  readonly mediaTokens: Pick<MediaTokens, 'nextExpiryMs'>
  /** The endpoints whose answers depend on credentials, URL and store alone. */
  readonly names: readonly EndpointName[]
}

export class AnswerCache {
  readonly #names: ReadonlySet<EndpointName>
  readonly #answers: VersionedCache<string, string>

  constructor({ store, mediaTokens, names }: AnswerCacheOptions) {
    this.#names = new Set(names)
    const source: VersionedSource = {
      // Both parts only grow, so a change of either changes the sum.
      get version() {
        return store.version + mediaTokens.nextExpiryMs() / mediaTokenSlotMs
      },
    }
    this.#answers = new VersionedCache(source, { maxEntries })
  }

  keeps(name: EndpointName): boolean {
    return this.#names.has(name)
  }

  /** The answer as JSON, if it is known and still true. `url` is path and query as requested. */
  find(credential: Credential, url: string): string | undefined {
    return this.#answers.get(keyOf(credential, url))
  }

  /** The answer from memory, or made now and kept. */
  load(credential: Credential, url: string, make: () => Promise<string>): Promise<string> {
    return url.length > maxUrlLength ? make() : this.#answers.load(keyOf(credential, url), make)
  }
}

const keyOf = ({ kind, id }: Credential, url: string): string => `${kind} ${id} ${url}`

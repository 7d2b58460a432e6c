// Answers kept as JSON while nothing they tell of has changed: the same caller asking the same again costs a look-up.

import type { EndpointName } from '../../contract/endpoints.ts'
import type { Credential } from '../auth/caller.ts'
import { type MediaTokens, mediaTokenSlotMs } from '../auth/media-token.ts'
import type { Store } from '../store/store.ts'
import { VersionedCache, type VersionedSource } from '../store/versioned-cache.ts'

const maxUrlLength = 512

export type AnswerCachesOptions = {
  readonly store: Pick<Store, 'version' | 'eventsVersion'>
  readonly mediaTokens: Pick<MediaTokens, 'nextExpiryMs'>
}

type AnswerCacheOptions = {
  /** The version of all that the answers depend on, besides credentials and URL. */
  readonly source: VersionedSource
  readonly names: readonly EndpointName[]
  /** When full, the oldest answer goes. */
  readonly maxEntries: number
  /** Longer answers are not kept. */
  readonly maxLength?: number
}

/** Of the endpoints whose answers depend on nothing but credentials, URL, store and media tokens. */
export function createAnswerCaches({ store, mediaTokens }: AnswerCachesOptions): readonly AnswerCache[] {
  return [
    new AnswerCache({
      names: ['getMe', 'listCameras', 'getCamera', 'listSharedCameras', 'getSharedCamera'],
      source: {
        // Media tokens are part of these answers. Both parts only grow, so a change of either changes the sum.
        get version() {
          return store.version + mediaTokens.nextExpiryMs() / mediaTokenSlotMs
        },
      },
      maxEntries: 4096,
    }),
    // Apart, because events come all the time, and their lists may be long.
    new AnswerCache({
      names: ['listEvents', 'listCameraEvents'],
      source: {
        get version() {
          return store.eventsVersion
        },
      },
      maxEntries: 256,
      maxLength: 65_536,
    }),
  ]
}

export class AnswerCache {
  readonly #names: ReadonlySet<EndpointName>
  readonly #answers: VersionedCache<string, string>

  constructor({ source, names, maxEntries, maxLength = Number.POSITIVE_INFINITY }: AnswerCacheOptions) {
    this.#names = new Set(names)
    this.#answers = new VersionedCache(source, { maxEntries, isKept: (answer) => answer.length <= maxLength })
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

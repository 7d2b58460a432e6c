// Caches responses as JSON until the data behind them changes: the same request by the same caller costs only a lookup.
// Limited in bytes, because clients decide how large responses are and how many variants they request.

import type { Endpoint } from '../../contract/endpoint.ts'
import { type EndpointName, endpoints } from '../../contract/endpoints.ts'
import type { Credential } from '../auth/caller.ts'
import { type MediaTokens, mediaTokenSlotMs } from '../auth/media-token.ts'
import { VersionedCache, type VersionedSource } from '../store/engine/versioned-cache.ts'
import type { Store } from '../store/store.ts'
import { type EncodedJson, encodeJson } from './answer.ts'

const maxUrlLength = 512

/** Size of an entry in addition to its characters. */
const entryBytes = 200
const maxCount = 4096

export type AnswerCachesOptions = {
  readonly store: Pick<Store, 'version' | 'eventsVersion'>
  readonly mediaTokens: Pick<MediaTokens, 'nextExpiryMs'>
}

type AnswerCacheOptions = {
  /** Version of the data that the responses depend on, besides credentials and URL. */
  readonly source: VersionedSource
  readonly names: readonly EndpointName[]
  /** Size of all responses; the oldest are evicted. */
  readonly maxBytes: number
  /** Larger responses are not cached. */
  readonly maxAnswerBytes: number
}

export type AnswerKey = `${Credential['kind']} ${number} ${string}`

/** A response and the endpoint that produced it. */
export type KnownAnswer = { readonly name: EndpointName; readonly json: EncodedJson }

/** Caches for endpoints whose responses depend only on credentials, URL, store and media tokens. */
export function createAnswerCaches({ store, mediaTokens }: AnswerCachesOptions): readonly AnswerCache[] {
  return [
    new AnswerCache({
      names: ['getMe', 'listCameras', 'getCamera', 'listSharedCameras', 'getSharedCamera'],
      source: {
        // Media tokens are part of these responses. Both parts only increase, so a change of either changes the sum.
        get version() {
          return store.version + mediaTokens.nextExpiryMs() / mediaTokenSlotMs
        },
      },
      maxBytes: 32 * 2 ** 20,
      maxAnswerBytes: 2 * 2 ** 20,
    }),
    // A separate cache, because events arrive all the time and their lists may be long.
    new AnswerCache({
      names: ['listEvents', 'listCameraEvents'],
      source: {
        get version() {
          return store.eventsVersion
        },
      },
      maxBytes: 8 * 2 ** 20,
      maxAnswerBytes: 2 ** 17,
    }),
  ]
}

export class AnswerCache {
  readonly #names: ReadonlySet<EndpointName>
  readonly #answers: VersionedCache<string, KnownAnswer>

  constructor({ source, names, maxBytes: max, maxAnswerBytes: maxOfOne }: AnswerCacheOptions) {
    this.#names = new Set(names)
    this.#answers = new VersionedCache(source, { maxEntries: maxCount, bytes: { max, maxOfOne, sizeOf } })
  }

  get bytes(): number {
    return this.#answers.bytes
  }

  keeps(name: EndpointName): boolean {
    return this.#names.has(name)
  }

  /** The response, if it is cached and still valid. */
  find(key: AnswerKey): KnownAnswer | undefined {
    return this.#answers.get(key)
  }

  /**
   * Returns the cached response, or creates it as JSON and caches it if the URL contains only parameters that the
   * endpoint `name` knows. `url` is path and query as requested.
   */
  async load(
    name: EndpointName,
    credential: Credential,
    url: string,
    make: () => Promise<string>,
  ): Promise<EncodedJson> {
    const encode = async (): Promise<KnownAnswer> => ({ name, json: encodeJson(await make()) })
    const { json } = await (isKnown(name, url) ? this.#answers.load(keyOfAnswer(credential, url), encode) : encode())
    return json
  }
}

export function keyOfAnswer({ kind, id }: Credential, url: string): AnswerKey {
  return `${kind} ${id} ${url}`
}

/** A character takes at most two bytes. */
const sizeOf = (key: string, { json }: KnownAnswer): number => 2 * (key.length + json.length) + entryBytes

/** Each parameter must be known and occur once; otherwise there would be any number of URLs for one response. */
function isKnown(name: EndpointName, url: string): boolean {
  if (url.length > maxUrlLength) return false
  const queryAt = url.indexOf('?')
  if (queryAt === -1) return true
  const { query: schema }: Endpoint = endpoints[name]
  const known: object = (schema as { properties?: object } | undefined)?.properties ?? {}
  const names = [...new URLSearchParams(url.slice(queryAt)).keys()]
  return new Set(names).size === names.length && names.every((each) => Object.hasOwn(known, each))
}

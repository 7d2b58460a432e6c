// Answers kept as JSON while nothing they tell of has changed: the same caller asking the same again costs a look-up. Bounded in
// bytes, because how long an answer is and in how many ways it can be asked for is up to whoever asks.

import type { Endpoint } from '../../contract/endpoint.ts'
import { type EndpointName, endpoints } from '../../contract/endpoints.ts'
import type { Credential } from '../auth/caller.ts'
import { type MediaTokens, mediaTokenSlotMs } from '../auth/media-token.ts'
import type { Store } from '../store/store.ts'
import { VersionedCache, type VersionedSource } from '../store/versioned-cache.ts'
import { type EncodedJson, encodeJson } from './answer.ts'

const maxUrlLength = 512

/** Of an entry, besides its characters. */
const entryBytes = 200
const maxCount = 4096

export type AnswerCachesOptions = {
  readonly store: Pick<Store, 'version' | 'eventsVersion'>
  readonly mediaTokens: Pick<MediaTokens, 'nextExpiryMs'>
}

type AnswerCacheOptions = {
  /** The version of all that the answers depend on, besides credentials and URL. */
  readonly source: VersionedSource
  readonly names: readonly EndpointName[]
  /** Of all answers; when full, the oldest go. */
  readonly maxBytes: number
  /** Larger answers are not kept. */
  readonly maxAnswerBytes: number
}

export type AnswerKey = `${Credential['kind']} ${number} ${string}`

/** The endpoint that answered, and what. */
export type KnownAnswer = { readonly name: EndpointName; readonly json: EncodedJson }

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
      maxBytes: 32 * 2 ** 20,
      maxAnswerBytes: 2 * 2 ** 20,
    }),
    // Apart, because events come all the time, and their lists may be long.
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

  /** The answer, if it is known and still true. */
  find(key: AnswerKey): KnownAnswer | undefined {
    return this.#answers.get(key)
  }

  /**
   * The answer from memory, or made now as JSON and, where the URL says nothing but what the endpoint `name` knows, kept. `url` is path and
   * query as requested.
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

/** A character takes two bytes at most. */
const sizeOf = (key: string, { json }: KnownAnswer): number => 2 * (key.length + json.length) + entryBytes

/** Each parameter is one of the endpoint's and is there once; otherwise there would be any number of URLs for one answer. */
function isKnown(name: EndpointName, url: string): boolean {
  if (url.length > maxUrlLength) return false
  const queryAt = url.indexOf('?')
  if (queryAt === -1) return true
  const { query: schema }: Endpoint = endpoints[name]
  const known: object = (schema as { properties?: object } | undefined)?.properties ?? {}
  const names = [...new URLSearchParams(url.slice(queryAt)).keys()]
  return new Set(names).size === names.length && names.every((each) => Object.hasOwn(known, each))
}

// The operations of the description that can be tried, and the objects that their paths name.

import type { OpenApiDocument } from '../../server/api/description/openapi.ts'
import type { SentAnswer } from '../support/api/check-answer.ts'
import { type DescribedOperation, type DescribedRequest, encode } from './described-requests.ts'

/** Objects of a kind; few, so that those of the household are asked about often. */
const maxLearnt = 4

/** By the name of the parameter. */
export type ObjectsByParameter = { readonly [name: string]: readonly (string | number)[] }

/** Not asked: their answers have no end, or are for browsers, or take seconds of listening to the network. */
export const isAsked = ({ operation: { tags, operationId } }: DescribedOperation) =>
  !['Live media', 'Recorded media'].includes(tags[0]) && operationId !== 'discoverDevices'

export function listOperations({ paths }: OpenApiDocument): DescribedOperation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
}

/**
 * Values of path parameters that name something: those there are from the beginning, and whatever answers speak of. The former are
 * removed by no request unless `mayRemove` says so, so that there is something to ask about to the end.
 */
export class KnownObjects {
  readonly #given: ObjectsByParameter
  readonly #learnt: { [name: string]: (string | number)[] } = {}
  readonly #paths: readonly string[]

  readonly #mayRemove: (path: string, id: string | number) => boolean

  constructor(
    operations: readonly DescribedOperation[],
    given: ObjectsByParameter,
    mayRemove: (path: string, id: string | number) => boolean = () => false,
  ) {
    this.#mayRemove = mayRemove
    this.#given = given
    this.#paths = operations.map(({ path }) => path)
  }

  writePath({ path, method, pathValues }: DescribedRequest): string {
    return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      const value = pathValues[name]!
      if ('text' in value) return encode(value.text)
      const given = this.#given[name] ?? []
      const kept = method === 'DELETE' ? given.filter((id) => this.#mayRemove(path, id)) : given
      const values = [...kept, ...(this.#learnt[name] ?? [])]
      return values.length === 0 ? '424242' : encodeURIComponent(values[value.known % values.length]!)
    })
  }

  /** What was created is known by the parameter behind its path; what was removed is forgotten. */
  learn({ path, method }: DescribedRequest, { status, body, url }: SentAnswer): void {
    if (status === 201) {
      const name = findItemParameter(this.#paths, path)
      if (name !== undefined) this.#add(name, (JSON.parse(body) as { id: number }).id)
    }
    if (status === 204 && method === 'DELETE') {
      const name = /\{(\w+)\}\/$/.exec(path)?.[1]
      const gone = new URL(url).pathname.split('/').at(-2)
      if (name !== undefined) this.#learnt[name] = (this.#learnt[name] ?? []).filter((value) => String(value) !== gone)
    }
    if (status === 200 && path.endsWith('/recording/stream/')) {
      const { stream_info: info } = JSON.parse(body) as { stream_info: string }
      const [name, id] = new URL(info).pathname.split('/').slice(-3)
      this.#add('streamer_name', decodeURIComponent(name!))
      this.#add('streamer_id', id!)
    }
  }

  #add(name: string, value: string | number): void {
    this.#learnt[name] = [...(this.#learnt[name] ?? []), value].slice(-maxLearnt)
  }
}

/** `guest_id` for `…/guests/`, where there is `…/guests/{guest_id}/`; what stands behind `/v1/events/` is a camera. */
export function findItemParameter(paths: readonly string[], collection: string): string | undefined {
  const name = /(\w+)s\/$/.exec(collection)?.[1]
  return name !== undefined && paths.includes(`${collection}{${name}_id}/`) ? `${name}_id` : undefined
}

// Schemas of the contract as OpenAPI 3.1 has them: what the contract exports by a name becomes a component of that
// name, everything else is written where it stands.

import type { TSchema } from 'typebox'
import * as account from '../../../contract/account.ts'
import * as camera from '../../../contract/camera.ts'
import * as detection from '../../../contract/detection.ts'
import type { Endpoint } from '../../../contract/endpoint.ts'
import { type EndpointName, endpoints } from '../../../contract/endpoints.ts'
import * as event from '../../../contract/event.ts'
import * as guest from '../../../contract/guest.ts'
import * as recording from '../../../contract/recording.ts'
import { FieldErrors, ours, Problem } from '../../../contract/schema.ts'
import * as user from '../../../contract/user.ts'
import type { Schema } from './openapi.ts'

const modules: readonly { readonly [name: string]: unknown }[] = [
  user,
  camera,
  recording,
  guest,
  event,
  detection,
  account,
]

/** Writes schemas and collects the components they point to. */
export class SchemaWriter {
  readonly #names: ReadonlyMap<string, string>
  readonly #used = new Map<string, Schema>()

  constructor() {
    this.#names = nameSchemas()
  }

  /** Of those that were written so far, by name. */
  get components(): { [name: string]: Schema } {
    return Object.fromEntries([...this.#used].sort(([a], [b]) => a.localeCompare(b)))
  }

  write(schema: TSchema): Schema {
    // Equal schemas are one, because what holds a schema may hold a copy of it.
    return this.#write(JSON.parse(JSON.stringify(schema)) as Schema)
  }

  #write(schema: Schema): Schema {
    const name = this.#names.get(JSON.stringify(schema))
    if (name === undefined) return this.#writeInPlace(schema)
    if (!this.#used.has(name)) {
      this.#used.set(name, {}) // its place, should it hold itself
      this.#used.set(name, this.#writeInPlace(schema))
    }
    return { $ref: `#/components/schemas/${name}` }
  }

  #writeInPlace(schema: Schema): Schema {
    const { anyOf, properties, items, additionalProperties, ...rest } = schema
    const values = rest.enum
    return {
      ...(values?.every((value) => typeof value === 'string') && { type: 'string' }),
      ...rest,
      ...(properties && { properties: mapValues(properties, (property) => this.#write(property)) }),
      ...(items && { items: this.#write(items) }),
      ...(additionalProperties !== undefined && {
        additionalProperties:
          typeof additionalProperties === 'object' ? this.#write(additionalProperties) : additionalProperties,
      }),
      ...(anyOf && this.#writeChoice(anyOf)),
    }
  }

  /** A value that may be null is of two types, where a type is all that names it. */
  #writeChoice(options: readonly Schema[]): Schema {
    const written = options.map((option) => this.#write(option))
    const [first, second] = written
    if (written.length !== 2 || second!.type !== 'null') return { anyOf: written }
    if (typeof first!.type === 'string' && first!.enum === undefined && first!.properties === undefined) {
      return { ...first, type: [first!.type, 'null'] }
    }
    const { description, 'x-nightjar-extension': isOurs, ...rest } = first!
    return {
      ...(isOurs && ours),
      ...(description !== undefined && { description }),
      anyOf: [rest, second!],
    }
  }
}

/** Names by the JSON of what they name; lists are named by what they list. */
function nameSchemas(): Map<string, string> {
  const names = new Map([
    [JSON.stringify(Problem), 'Problem'],
    [JSON.stringify(FieldErrors), 'FieldErrors'],
  ])
  for (const module of modules) {
    for (const [name, value] of Object.entries(module)) {
      const isObject = typeof value === 'object' && value !== null && 'properties' in value
      if (isObject && !names.has(JSON.stringify(value))) names.set(JSON.stringify(value), name)
    }
  }
  for (const name of Object.keys(endpoints) as EndpointName[]) {
    const { result }: Endpoint = endpoints[name]
    const item = (result as Schema).properties?.results?.items
    const itemName = item && names.get(JSON.stringify(item))
    if (itemName !== undefined) names.set(JSON.stringify(result), `${itemName}Page`)
  }
  return names
}

function mapValues<T, R>(object: { readonly [name: string]: T }, write: (value: T) => R): { [name: string]: R } {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, write(value)]))
}

// Converts schemas of the contract to OpenAPI 3.1. Schemas that the contract exports become components with the same
// name, and all others are written in place.

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
import * as server from '../../../contract/server.ts'
import * as statistics from '../../../contract/statistics.ts'
import * as storage from '../../../contract/storage.ts'
import * as user from '../../../contract/user.ts'
import type { Schema } from './openapi.ts'

const modules: readonly { readonly [name: string]: unknown }[] = [
  user,
  camera,
  recording,
  guest,
  event,
  detection,
  statistics,
  storage,
  server,
  account,
]

/** Writes schemas and collects the components that they refer to. */
export class SchemaWriter {
  readonly #names: ReadonlyMap<string, string>
  readonly #used = new Map<string, Schema>()

  constructor() {
    this.#names = nameSchemas()
  }

  /** The components that were used so far, by name. */
  get components(): { [name: string]: Schema } {
    return Object.fromEntries([...this.#used].sort(([a], [b]) => a.localeCompare(b)))
  }

  write(schema: TSchema): Schema {
    // Schemas are compared by their JSON, because a schema may contain a copy of another one.
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

  /** Writes a nullable value as a list of two types if the schema has only a type, and otherwise as `anyOf`. */
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

/** Maps the JSON of each named schema to its name. The name of a list is derived from its items. */
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

// Writes the contract down as plain TypeScript for the SDK: its types without typebox behind them, and a table of operations.
// What is written is kept in sdk/generated, so that neither browsers nor the package need the contract's own library.

import { execFileSync } from 'node:child_process'
import * as account from '../contract/account.ts'
import * as camera from '../contract/camera.ts'
import type { Endpoint } from '../contract/endpoint.ts'
import { endpoints } from '../contract/endpoints.ts'
import * as event from '../contract/event.ts'
import * as guest from '../contract/guest.ts'
import * as page from '../contract/page.ts'
import * as recording from '../contract/recording.ts'
import * as schema from '../contract/schema.ts'
import * as user from '../contract/user.ts'

/** What this part knows of JSON Schema: all that the contract uses. */
type Schema = {
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean' | 'null'
  readonly format?: string
  readonly description?: string
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema
  readonly items?: Schema
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  /** By the name a schema has among the components of the description. */
  readonly $ref?: string
}

/** In requests times may be dates, and a missing key may be there with the value undefined. */
type Direction = 'request' | 'answer'

/** Names that would hide those of every browser program, or one of the SDK's own. */
const renamed: Readonly<Record<string, string>> = { Event: 'CameraEvent', Session: 'BrowserSession' }

const header = `// Written from the contract by scripts/write-sdk.ts; change the contract, not this.\n`

const named = new Map<Schema, string>()
for (const module of [user, camera, recording, guest, event, page, account, schema]) {
  for (const [name, value] of Object.entries(module)) {
    const isObject = typeof value === 'object' && (value as Schema).type === 'object'
    if (isObject && !named.has(value as Schema)) named.set(value as Schema, renamed[name] ?? name)
  }
}

/** sdk/generated/objects.ts: what is sent and answered. */
export function writeObjects(): string {
  const used = new Map<Schema, Direction>()
  const use = (found: Schema | undefined, direction: Direction): void => {
    if (found === undefined) return
    if (named.has(found) && used.get(found) !== 'request') used.set(found, direction)
    const { items, anyOf = [], properties = {}, additionalProperties } = found
    for (const inner of [items, additionalProperties, ...anyOf, ...Object.values(properties)]) use(inner, direction)
  }
  for (const { query, body, result } of Object.values<Endpoint>(endpoints)) {
    use(query, 'request')
    use(body, 'request')
    use(result, 'answer')
  }
  for (const one of [schema.FieldErrors, schema.Problem]) used.set(one as Schema, 'answer')
  const types = [...named]
    .filter(([found]) => used.has(found))
    .map(([found, name]) => `export type ${name} = ${writeObject(found, used.get(found)!)}\n`)
  const anyPage = writeObject(page.page({}) as Schema, 'answer')
  return format(
    [
      `${header}\n/** An instant in an answer: \`YYYY-MM-DDThh:mm:ssZ\`. */\nexport type Timestamp = string\n`,
      '/** An instant in a request: a date, or ISO 8601 with `Z`, an offset, or no zone (UTC). */\nexport type Time = Date | string\n',
      `export type Page<Item> = ${anyPage.replace('(unknown)[]', 'Item[]')}\n`,
      ...types,
    ].join('\n'),
  )
}

/** sdk/generated/operations.ts: what may be asked, and where. */
export function writeOperations(): string {
  const all = Object.entries<Endpoint>(endpoints)
  const types = all.map(([name, { summary, isExtension, params, query, body, result }]) => {
    const parts = [
      ...(params ? [`params: ${writeObject(params, 'request')}`] : []),
      ...(query ? [`query${isAllOptional(query) ? '?' : ''}: ${writeType(query, 'request')}`] : []),
      ...(body ? [`body: ${writeType(body, 'request')}`] : []),
      `result: ${writeResult(result)}`,
    ]
    return `/** ${summary}${isExtension ? ' An extension of the interface.' : ''} */\n${name}: { ${parts.join('; ')} }\n`
  })
  const written = types.join('')
  const imports = ['Page', ...named.values()].filter((name) => new RegExp(`\\b${name}\\b`).test(written)).sort()
  const rows = all.map(([name, { method, path }]) => `${name}: { method: '${method}', path: '${path}' },\n`)
  return format(
    [
      `${header}\nimport type { ${imports.join(', ')} } from './objects.ts'\n`,
      `export type Operations = {\n${written}}\n`,
      'export type OperationName = keyof Operations\n',
      '/** Method and path of each; `{name}` stands for a parameter. */',
      `export const operations = {\n${rows.join('')}} as const satisfies Record<OperationName, { method: string; path: string }>`,
    ].join('\n'),
  )
}

function isAllOptional({ required = [] }: Schema): boolean {
  return required.length === 0
}

function writeResult(result: Schema): string {
  const item = result.properties?.results?.items
  if (item && 'next' in result.properties!) return `Page<${writeType(item, 'answer')}>`
  return result.type === 'null' ? 'undefined' : writeType(result, 'answer')
}

function writeType(found: Schema, direction: Direction): string {
  const name = named.get(found)
  if (name !== undefined) return name
  if (found.$ref !== undefined) return found.$ref.replace(/.*\//, '')
  if (found.enum) return found.enum.map(writeValue).join(' | ')
  if (found.const !== undefined) return writeValue(found.const)
  if (found.anyOf) {
    const types = found.anyOf.map((one) => writeType(one, direction))
    return types.includes('unknown') ? 'unknown' : types.join(' | ')
  }
  switch (found.type) {
    case 'object':
      return writeObject(found, direction)
    case 'array':
      return `(${writeType(found.items!, direction)})[]`
    case 'string':
      if (found.format !== 'date-time') return 'string'
      return direction === 'request' ? 'Time' : 'Timestamp'
    case 'integer':
    case 'number':
      return 'number'
    case undefined:
      return 'unknown'
    default:
      return found.type
  }
}

/** On one line where nothing is said of its keys and it is short enough. */
function writeObject(found: Schema, direction: Direction): string {
  const { properties = {}, required = [], additionalProperties } = found
  if (additionalProperties) return `{ [name: string]: ${writeType(additionalProperties, direction)} }`
  const keys = Object.entries(properties).map(([key, property]) => {
    const description = property.description ?? property.anyOf?.find((one) => one.description)?.description
    const doc = description === undefined ? '' : `\n/** ${description} */\n`
    const type = writeType(property, direction)
    if (required.includes(key)) return `${doc}${key}: ${type}`
    return `${doc}${key}?: ${type}${direction === 'request' && type !== 'unknown' ? ' | undefined' : ''}`
  })
  return `{ ${keys.join('; ')} }`
}

function writeValue(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value)
}

/** As the rest of the project is formatted. */
function format(text: string): string {
  const biome = new URL('../node_modules/.bin/biome', import.meta.url).pathname
  const args = ['format', '--stdin-file-path=sdk/generated/objects.ts']
  return execFileSync(biome, args, { cwd: new URL('..', import.meta.url), input: text, encoding: 'utf8' })
}

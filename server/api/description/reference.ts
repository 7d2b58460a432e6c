// Writes the API description as Markdown, for the page at /docs/ and the manual in docs/reference/.

import { writeCurl } from './example-call.ts'
import { type Link, writeFieldTable, writeParameterTable } from './field-rows.ts'
import type { MediaType, OpenApiDocument, Operation, Reference, RequestBody, Response, Schema } from './openapi.ts'
import { Slugs } from './slugs.ts'

/** A part has a first-level heading, and its items have second-level headings. */
export type ReferencePart = {
  readonly heading: string
  readonly text: string
  readonly items: readonly ReferenceItem[]
}
export type ReferenceItem = { readonly heading: string; readonly text: string }

type Described = { readonly path: string; readonly method: string; readonly operation: Operation }

export function createReference(document: OpenApiDocument): readonly ReferencePart[] {
  const introduction = document.info.description
    .split(/^## /m)
    .slice(1)
    .map((chapter) => {
      const [heading, ...lines] = chapter.split('\n')
      return { heading: heading!, text: lines.join('\n').trim(), items: [] }
    })
  const operations: Described[] = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
  const schemas = Object.entries(document.components.schemas)
  const objectsHeading = 'Objects'
  const link = createLink(
    [
      ...introduction.map(({ heading }) => heading),
      ...document.tags.flatMap(({ name }) => [name, ...operationsOf(operations, name).map(headingOf)]),
      objectsHeading,
      ...schemas.map(([name]) => name),
    ],
    schemas.length,
  )
  return [
    ...introduction,
    ...document.tags.map(({ name, description }) => ({
      heading: name,
      text: description,
      items: operationsOf(operations, name).map((described) => ({
        heading: headingOf(described),
        text: writeOperation(document, described, link),
      })),
    })),
    {
      heading: objectsHeading,
      text: 'The objects in requests and responses.',
      items: schemas.map(([name, schema]) => ({ heading: name, text: writeObject(schema, operations, name, link) })),
    },
  ]
}

const operationsOf = (operations: readonly Described[], tag: string) =>
  operations.filter(({ operation }) => operation.tags[0] === tag)

const headingOf = ({ operation }: Described): string => operation.summary

/** The last `objectCount` headings are those of objects. */
function createLink(headings: readonly string[], objectCount: number): Link {
  const slugs = new Slugs()
  const all = headings.map((heading) => [heading, slugs.next(heading)] as const)
  const bySchema = new Map(all.slice(-objectCount))
  return (name) => `[${name}](#${bySchema.get(name)})`
}

function writeOperation(document: OpenApiDocument, { path, method, operation }: Described, link: Link): string {
  const { parameters = [], requestBody, description } = operation
  const successes = Object.entries(operation.responses)
    .filter(([status]) => Number(status) < 400)
    .map(([status, response]) => [status, resolve(document, response)] as const)
  const sections = [
    `\`${method} ${path}\``,
    description,
    writeScopes(operation),
    parameters.length > 0 && writeParameterTable(parameters, link),
    requestBody && writeBody(requestBody.content, link),
    fence('sh', writeCurl(document, method, path, operation)),
    ...writeOtherBodies(requestBody),
    successes.map(([status, response]) => writeSuccess(status, response, link)).join(' '),
    ...successes.map(([, response]) => writeExample(response.content?.['application/json'])),
    writeRefusals(operation.responses),
  ]
  return sections.filter((section) => typeof section === 'string' && section !== '').join('\n\n')
}

/** Both token schemes require the same scopes, so only one is read. */
function writeScopes({ security }: Operation): string {
  const scopes = security.flatMap((way) => ('personalAccessToken' in way ? [way.personalAccessToken!] : []))
  if (scopes.length === 0)
    return security.length === 0 ? 'No credentials.' : 'Client credentials in the form, or by HTTP Basic.'
  const ways = scopes.map((all) => all.map((scope) => `\`${scope}\``).join(' and '))
  const isOpen = security.some((way) => Object.keys(way).length === 0)
  return `Scopes: ${ways.join(', or ')}${isOpen ? '; or no token' : ''}.`
}

function writeBody(content: { readonly [type: string]: MediaType }, link: Link): string {
  const types = Object.keys(content).map((type) => `\`${type}\``)
  const { schema } = Object.values(content)[0]!
  const { properties, $ref, oneOf } = schema
  if (properties) return `Body, ${types.join(' or ')}:\n\n${writeFieldTable(schema, link, true)}`
  const names = [...($ref === undefined ? [] : [$ref]), ...(oneOf ?? []).map((option) => option.$ref!)]
  return `Body, ${types.join(' or ')}: ${names.map((name) => link(name.split('/').at(-1)!)).join(', ')}`
}

/** Omits the first example, which the call contains. */
function writeOtherBodies(body: RequestBody | undefined): string[] {
  const [type, media] = Object.entries(body?.content ?? {})[0] ?? []
  const [, ...others] = Object.values(media?.examples ?? {})
  return others.map(({ summary, value }) =>
    type === 'application/json'
      ? fence(`json ${summary}`, JSON.stringify(value, null, 2))
      : fence(
          `text ${summary}`,
          Object.entries(value as object)
            .map((pair) => pair.join('='))
            .join('\n'),
        ),
  )
}

function writeSuccess(status: string, { content, description }: Response, link: Link): string {
  const [type, media] = Object.entries(content ?? {})[0] ?? []
  if (type === undefined || media === undefined) return `Response ${status}: ${description}`
  if (type !== 'application/json') return `Response ${status}, \`${type}\`: ${description}`
  const { $ref } = media.schema
  return `Response ${status}: ${$ref === undefined ? description : link($ref.split('/').at(-1)!)}`
}

function writeExample(media: MediaType | undefined): string {
  return media?.example === undefined ? '' : fence('json Example', JSON.stringify(media.example, null, 2))
}

/** Common errors are described only once, in the introduction. */
function writeRefusals(responses: Operation['responses']): string {
  const refusals = Object.entries(responses).filter(([status]) => Number(status) >= 400)
  const usual = refusals.filter(([, response]) => '$ref' in response).map(([status]) => status)
  const own = refusals.filter((entry): entry is [string, Response] => !('$ref' in entry[1]))
  return [
    ...own.map(([status, { description }]) => `- ${status}: ${description}`),
    ...(usual.length > 0 ? [`- ${usual.join(', ')}: see [errors](#errors)`] : []),
  ].join('\n')
}

function writeObject(schema: Schema, operations: readonly Described[], name: string, link: Link): string {
  const sent = `"$ref":"#/components/schemas/${name}"`
  const isInput = operations.some(({ operation }) => JSON.stringify(operation.requestBody ?? {}).includes(sent))
  const text = schema.description ?? ''
  return schema.properties ? `${text}\n\n${writeFieldTable(schema, link, isInput)}`.trim() : text
}

function resolve({ components }: OpenApiDocument, response: Response | Reference): Response {
  return '$ref' in response ? components.responses[response.$ref.split('/').at(-1)!]! : response
}

const fence = (language: string, text: string): string => `\`\`\`${language}\n${text}\n\`\`\``

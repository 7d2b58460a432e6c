// Writes an operation as a curl command that works as it is, except for the token and the ids in it.

import type { MediaType, OpenApiDocument, Operation } from './openapi.ts'

const maxLength = 90

export function writeCurl({ servers }: OpenApiDocument, method: string, path: string, operation: Operation): string {
  const { parameters = [], requestBody, security } = operation
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(parameters.find((parameter) => parameter.name === name)?.example ?? name)),
  )
  const query = parameters
    .filter((parameter) => parameter.in === 'query' && parameter.required)
    .map(({ name, example }) => `${name}=${String(example).replaceAll(/[&#%+\s]/g, encodeURIComponent)}`)
    .join('&')
  const url = `${servers[0]!.url}${filled}${query === '' ? '' : `?${query}`}`
  const needsToken = security.length > 0 && security.every((way) => Object.keys(way).length > 0)
  const mayUseToken = security.some((way) => 'personalAccessToken' in way)
  const parts = [
    'curl',
    ...(method === 'GET' || (method === 'POST' && requestBody) ? [] : ['-X', method]),
    ...(needsToken || mayUseToken ? ['-H', quote('Authorization: PersonalAccessToken TOKEN')] : []),
    ...writeBody(requestBody?.content),
    quote(url),
  ]
  const call = parts.join(' ')
  return call.length <= maxLength && !call.includes('\n') ? call : call.replaceAll(/ (?=-H |-d |'https?:)/g, ' \\\n  ')
}

function writeBody(content: { readonly [type: string]: MediaType } | undefined): string[] {
  const [type, media] = Object.entries(content ?? {})[0] ?? []
  if (type === undefined || media === undefined) return []
  const value = media.example ?? Object.values(media.examples ?? {})[0]?.value
  if (type === 'application/json') return ['-H', quote(`Content-Type: ${type}`), '-d', quote(writeJson(value))]
  return Object.entries(value as object).flatMap(([name, field]) => ['-d', quote(`${name}=${field}`)])
}

/** Writes short values on one line. */
function writeJson(value: unknown): string {
  const json = JSON.stringify(value)
  return json.length > 60 ? JSON.stringify(value, null, 2) : json
}

/** Quotes text for a shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

// For tests: holds answers under /v1 against the description. Status, type, headers that must be there, and the body, in which every
// key must be described.

import { Compile, type Validator } from 'typebox/schema'
import { createDescription } from './description.ts'
import { findPath, operationOf } from './find-operation.ts'
import type { Header, OpenApiDocument, Reference, Response, Schema } from './openapi.ts'

export type SentAnswer = {
  readonly method: string
  /** Path and query, or an absolute URL. */
  readonly url: string
  readonly status: number
  readonly headers: { readonly [name: string]: unknown }
  readonly body: string
}

/** Throws an Error that says what was answered and what is described instead; paths outside of /v1 are not looked at. */
export type AnswerCheck = (answer: SentAnswer) => void

/** What any request may run into before it reaches an operation; see the introduction's table of errors. */
const titlesOfAnyRequest: { readonly [status: number]: string } = {
  400: 'parse_error',
  403: 'https_required',
  408: 'request_timeout',
  417: 'expectation_failed',
  421: 'misdirected_request',
  431: 'payload_too_large',
}

/** Where there is no such path or method: for the method, credentials are asked for first. */
const titlesOfNoOperation: { readonly [status: number]: string } = {
  ...titlesOfAnyRequest,
  401: 'not_authenticated',
  404: 'not_found',
  405: 'method_not_allowed',
  413: 'payload_too_large',
  429: 'rate_limited',
  503: 'unavailable',
}

export function createAnswerCheck(
  description: OpenApiDocument = createDescription('https://nightjar.example'),
): AnswerCheck {
  const validators = new Map<string, Validator>()
  const document = close(description) as OpenApiDocument

  const findBodyFaults = (key: string, schema: Schema, value: unknown): string[] => {
    const known = validators.get(key)
    const validator = known ?? (Compile({ components: document.components, allOf: [schema] } as never) as Validator)
    if (!known) validators.set(key, validator)
    if (validator.Check(value)) return []
    return validator.Errors(value)[1].map(({ instancePath, message }) => `${instancePath || 'the body'} ${message}`)
  }

  return (answer) => {
    const { method, status } = answer
    const path = new URL(answer.url, 'https://nightjar.example').pathname
    if (!path.startsWith('/v1/') || method === 'OPTIONS') return
    const found = findPath(document, path)
    const operation = found && operationOf(found, method)
    const fail = (faults: readonly string[]): never => {
      const name = operation ? `${operation.operationId} (${method} ${path})` : `${method} ${path}`
      throw new Error(
        `the answer is not as described: ${name} -> ${status}\n- ${faults.join('\n- ')}\nbody: ${answer.body.slice(0, 2000)}`,
      )
    }
    const response = operation && resolve<Response>(document, operation.responses[status])
    const title = (operation ? titlesOfAnyRequest : titlesOfNoOperation)[status]
    if (!response && (title === undefined || (method !== 'HEAD' && !answer.body.includes(`"title":"${title}"`)))) {
      fail([operation ? `described are ${Object.keys(operation.responses).join(', ')}` : 'there is no such operation'])
    }
    const content = response ? response.content?.['application/json'] : { schema: problemSchema }
    const faults = findHeaderFaults(document, response, answer.headers)
    if (!content) {
      if (answer.body !== '') faults.push('the body should be empty')
    } else {
      const type = answer.headers['content-type']
      if (type !== 'application/json') faults.push(`the type is ${type}, not application/json`)
      if (method !== 'HEAD')
        faults.push(...checkBody(answer, (value) => findBodyFaults(keyOf(content.schema), content.schema, value)))
    }
    if (faults.length > 0) fail(faults)
  }
}

const problemSchema: Schema = { $ref: '#/components/schemas/Problem' }

const keyOf = (schema: Schema): string => schema.$ref ?? JSON.stringify(schema)

function checkBody({ body, status }: SentAnswer, findFaults: (value: unknown) => string[]): string[] {
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    return ['the body is not JSON']
  }
  const isOther = status >= 400 && (value as { status?: unknown } | null)?.status !== status
  return [...findFaults(value), ...(isOther ? [`/status is not ${status}`] : [])]
}

function findHeaderFaults(
  document: OpenApiDocument,
  response: Response | undefined,
  sent: SentAnswer['headers'],
): string[] {
  return Object.entries(response?.headers ?? {})
    .filter(([name, header]) => {
      return resolve<Header>(document, header)?.required && sent[name.toLowerCase()] === undefined
    })
    .map(([name]) => `the header ${name} is missing`)
}

function resolve<T extends object>(document: OpenApiDocument, value: T | Reference | undefined): T | undefined {
  if (value === undefined || !('$ref' in value)) return value as T | undefined
  const [, , kind, name] = (value as Reference).$ref.split('/') as [string, string, 'responses' | 'headers', string]
  return document.components[kind][name] as T | undefined
}

/** Objects whose keys are described have no others. */
function close(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(close)
  if (typeof value !== 'object' || value === null) return value
  const closed = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, close(inner)]))
  const isObject = 'properties' in closed && 'type' in closed && !('additionalProperties' in closed)
  return isObject ? { ...closed, additionalProperties: false } : closed
}

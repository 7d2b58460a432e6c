// For tests: compares responses with the description: the status, the content type, the required headers, and JSON
// bodies, in which every key must be described.

import { Compile, type Validator } from 'typebox/schema'
import { createDescription } from '../../../server/api/description/description.ts'
import type {
  Header,
  OpenApiDocument,
  Operation,
  Reference,
  Response,
  Schema,
} from '../../../server/api/description/openapi.ts'
import { findPath, operationOf } from './find-operation.ts'

export type SentAnswer = {
  readonly method: string
  /** Path and query, or an absolute URL. */
  readonly url: string
  readonly status: number
  readonly headers: { readonly [name: string]: unknown }
  readonly body: string
}

/**
 * Throws an Error that states the response and what the description has instead. Outside of /v1, only described
 * operations are checked.
 */
export type AnswerCheck = (answer: SentAnswer) => void

/** Errors that any request may get before it reaches an operation; see the table of errors in the introduction. */
const titlesOfAnyRequest: { readonly [status: number]: string } = {
  400: 'parse_error',
  403: 'https_required',
  408: 'request_timeout',
  417: 'expectation_failed',
  421: 'misdirected_request',
  431: 'payload_too_large',
}

/** Errors for unknown paths and methods. For an unknown method, the credentials are checked first. */
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

  const findJsonFaults = ({ body, status }: SentAnswer, schema: Schema): string[] => {
    let value: unknown
    try {
      value = JSON.parse(body)
    } catch {
      return ['the body is not JSON']
    }
    const statusInBody = (value as { status?: unknown } | null)?.status
    const isOther = status >= 400 && typeof statusInBody === 'number' && statusInBody !== status
    return [
      ...findBodyFaults(schema.$ref ?? JSON.stringify(schema), schema, value),
      ...(isOther ? [`/status is not ${status}`] : []),
    ]
  }

  const findContentFaults = (answer: SentAnswer, content: Response['content']): string[] => {
    if (!content) return answer.body === '' ? [] : ['the body should be empty']
    const type = String(answer.headers['content-type'])
    const described = content[type] ?? content[type.split(';', 1)[0]!]
    // JSON must have no charset parameter: the interface requires exactly `application/json`.
    if (!described || (type !== 'application/json' && type.startsWith('application/json'))) {
      return [`the type is ${type}, not ${Object.keys(content).join(' or ')}`]
    }
    return type === 'application/json' && answer.method !== 'HEAD' ? findJsonFaults(answer, described.schema) : []
  }

  const findFaults = (answer: SentAnswer, operation: Operation | undefined): string[] => {
    const response = operation && resolve<Response>(document, operation.responses[answer.status])
    if (response) {
      return [...findHeaderFaults(document, response, answer.headers), ...findContentFaults(answer, response.content)]
    }
    const title = (operation ? titlesOfAnyRequest : titlesOfNoOperation)[answer.status]
    const isInBody = answer.method === 'HEAD' || answer.body.includes(`"title":"${title}"`)
    if (title !== undefined && isInBody)
      return findContentFaults(answer, { 'application/json': { schema: problemSchema } })
    return [operation ? `described are ${Object.keys(operation.responses).join(', ')}` : 'there is no such operation']
  }

  return (answer) => {
    const { method, status, body } = answer
    const path = new URL(answer.url, 'https://nightjar.example').pathname
    const found = findPath(document, path)
    const operation = found && operationOf(found, method)
    if (method === 'OPTIONS' || (!operation && !path.startsWith('/v1/'))) return
    const faults = findFaults(answer, operation)
    if (faults.length === 0) return
    const request = operation ? `${operation.operationId} (${method} ${path})` : `${method} ${path}`
    const list = faults.map((fault) => `\n- ${fault}`).join('')
    throw new Error(`the answer is not as described: ${request} -> ${status}${list}\nbody: ${body.slice(0, 2000)}`)
  }
}

const problemSchema: Schema = { $ref: '#/components/schemas/Problem' }

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

/** Disallows undescribed keys in objects that have described ones. */
function close(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(close)
  if (typeof value !== 'object' || value === null) return value
  const closed = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, close(inner)]))
  const isObject = 'properties' in closed && 'type' in closed && !('additionalProperties' in closed)
  return isObject ? { ...closed, additionalProperties: false } : closed
}

// Requests made from the description: each operation, by callers of all kinds, from those that are right to those that are nothing of
// the sort. Which object a path names is decided when the request is sent, because objects come and go.

import fc from 'fast-check'
import type { Operation, Parameter, Schema } from '../../server/api/description/openapi.ts'
import { hostileJson, hostileText, type SchemaValues } from './schema-values.ts'

export type DescribedOperation = {
  readonly path: string
  readonly method: string
  readonly operation: Operation
}

/** A number stands for one of the objects that are known by the name of the parameter. */
export type PathValue = { readonly known: number } | { readonly text: string }

export type DescribedRequest = DescribedOperation & {
  readonly pathValues: { readonly [name: string]: PathValue }
  readonly query: string
  readonly headers: { readonly [name: string]: string }
  readonly body: string | Uint8Array | undefined
}

export type RequestsOptions = {
  readonly values: SchemaValues
  /** Of the Authorization header; undefined for none. What is there twice calls twice as often. */
  readonly callers: readonly (string | undefined)[]
}

export function createRequests(
  operations: readonly DescribedOperation[],
  options: RequestsOptions,
): fc.Arbitrary<DescribedRequest> {
  return fc.oneof(...operations.map((operation) => createRequestsOf(operation, options)))
}

function createRequestsOf(
  described: DescribedOperation,
  { values, callers }: RequestsOptions,
): fc.Arbitrary<DescribedRequest> {
  const { parameters = [], requestBody } = described.operation
  const inPath = parameters.filter((parameter) => parameter.in === 'path')
  const inQuery = parameters.filter((parameter) => parameter.in === 'query')
  return fc
    .record({
      pathValues: fc.record(Object.fromEntries(inPath.map(({ name }) => [name, pathValue]))),
      query: queries(inQuery, values),
      sent: fc.oneof(
        { weight: 5, arbitrary: requestBody ? bodies(requestBody.content, values) : nothing },
        { weight: 1, arbitrary: hostileBodies },
      ),
      caller: fc.constantFrom(...callers),
    })
    .map(({ pathValues, query, sent: { type, body }, caller }) => ({
      ...described,
      [fc.toStringMethod]: () => described.operation.operationId,
      pathValues,
      query,
      body,
      headers: {
        ...(caller !== undefined && { authorization: caller }),
        ...(type !== undefined && { 'content-type': type }),
      },
    }))
}

const pathValue: fc.Arbitrary<PathValue> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ known: fc.nat() }) },
  // Small numbers are left to `known`: they could name what the run itself depends on.
  { weight: 1, arbitrary: hostileText.filter((text) => !/^\s*\d{1,9}\s*$/.test(text)).map((text) => ({ text })) },
)

function queries(parameters: readonly Parameter[], values: SchemaValues): fc.Arbitrary<string> {
  const pairs = parameters.map(({ name, schema, required }) => {
    const fitting = values.fitting(schema).map((value) => [[name, String(value)]])
    const strange = hostileText.map((text) => [[name, text]])
    const repeated = fc.tuple(fitting, strange).map((both) => both.flat())
    const missing = { weight: required ? 1 : 4, arbitrary: fc.constant<string[][]>([]) }
    return fc.oneof({ weight: 6, arbitrary: fitting }, missing, { weight: 1, arbitrary: fc.oneof(strange, repeated) })
  })
  const unknown = { weight: 1, arbitrary: fc.tuple(hostileText, hostileText).map((pair) => [pair as string[]]) }
  const extra = fc.oneof({ weight: 8, arbitrary: fc.constant<string[][]>([]) }, unknown)
  return fc.tuple(fc.tuple(...pairs), extra, fc.nat(9)).map(([known, strange, form]) => {
    const text = [...known.flat(), ...strange].map((pair) => pair.map(encode).join('=')).join('&')
    return form === 0 ? `${text}&&=&%zz&%ff=%` : text
  })
}

type Sent = { readonly type: string | undefined; readonly body: string | Uint8Array | undefined }

const nothing: fc.Arbitrary<Sent> = fc.constant({ type: undefined, body: undefined })

function bodies(content: NonNullable<Operation['requestBody']>['content'], values: SchemaValues): fc.Arbitrary<Sent> {
  return fc.oneof(
    ...Object.entries(content).map(([type, { schema, examples = {}, example }]) => {
      const shown = [...Object.values(examples).map(({ value }) => value), ...(example === undefined ? [] : [example])]
      const write = type === 'application/json' ? writeJson : writeForm
      const sendable = type === 'multipart/form-data' ? `${type}; boundary=x` : type
      return fc
        .oneof(
          { weight: 3, arbitrary: values.fitting(schema) },
          ...(shown.length > 0 ? [{ weight: 2, arbitrary: fc.constantFrom(...shown) }] : []),
          { weight: 3, arbitrary: values.nearlyFitting(schema as Schema) },
        )
        .map((value) => ({ type: sendable, body: write(value) }))
    }),
  )
}

/** Addresses of examples are not ours to visit. */
const writeJson = (value: unknown): string =>
  (JSON.stringify(value) ?? '').replaceAll(/rtsp:\/\/([\w:]*@)?192\.168\.\d+\.\d+/g, 'rtsp://$1127.0.0.1:9')

const writeForm = (value: unknown): string =>
  Object.entries(value ?? {})
    .filter(([, part]) => part !== undefined)
    .map((pair) => pair.map((part) => encode(typeof part === 'string' ? part : JSON.stringify(part))).join('='))
    .join('&')

const hostileBodies: fc.Arbitrary<Sent> = fc.record({
  type: fc.constantFrom(
    'application/json',
    'application/json; charset=utf-16',
    'text/plain',
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencoded',
    ';;;',
    undefined,
  ),
  body: fc.oneof(
    hostileJson.map(writeJson),
    hostileText.map((text) => text.toWellFormed()),
    fc.uint8Array({ maxLength: 200 }),
    fc.constantFrom(
      '{',
      '[',
      '{"name":}',
      '[{}]',
      '"x"',
      '1e999',
      '{"limit":1e999}',
      '['.repeat(100) + ']'.repeat(100),
    ),
    fc.constant(`{"name":"${'x'.repeat(70_000)}"}`),
  ),
})

/** What cannot be encoded is sent as the bytes it is not. */
export function encode(text: string): string {
  return text.isWellFormed() ? encodeURIComponent(text) : '%ED%A0%80'
}

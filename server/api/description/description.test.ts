import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import type { AnyOperationText } from '../../../contract/description/operation-text.ts'
import { operationTexts } from '../../../contract/description/operation-texts.ts'
import { queryExamples } from '../../../contract/description/parameter-texts.ts'
import type { Endpoint } from '../../../contract/endpoint.ts'
import { type EndpointName, endpointNames, endpoints } from '../../../contract/endpoints.ts'
import { openTemporaryApi, publicUrl } from '../../../test/support/api/temporary-api.ts'
import { readBody, readQuery } from '../read-fields.ts'
import { createDescription } from './description.ts'
import type { Method, Operation } from './openapi.ts'

const description = createDescription('https://cameras.nightjar.test')
const operations: Operation[] = Object.values(description.paths).flatMap((item) => Object.values(item))
const operationOf = (name: string) => operations.find(({ operationId }) => operationId === name)!
const allNames = Object.keys(endpoints) as EndpointName[]

test('the recommended rules of Redocly, but for the one against slashes, find nothing at all, in the examples neither', async () => {
  const config = await createConfig({ extends: ['recommended'], rules: { 'no-path-trailing-slash': 'off' } })
  const problems = await lintFromString({
    source: JSON.stringify(description),
    absoluteRef: 'openapi.json',
    config,
  })
  const found = problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`)
  assert.deepEqual(found, [])
})

test('each endpoint that is built is an operation, with what it asks for and everything it may answer', () => {
  for (const name of endpointNames) {
    const endpoint: Endpoint = endpoints[name]
    const operation = operationOf(name)
    const item = description.paths[endpoint.path]
    assert.equal(
      item?.[endpoint.method.toLowerCase() as Method],
      operation,
      `${endpoint.path} as the interface writes it`,
    )
    const statuses = Object.keys(operation.responses)
    for (const status of [endpoint.status, 401, 403, 429, 503]) assert.ok(statuses.includes(String(status)), name)
    assert.equal(statuses.includes('415'), endpoint.body !== undefined, name)
    assert.equal(operation['x-nightjar-extension'], endpoint.isExtension, name)
    assert.equal(operation.description!.startsWith('Extension.'), endpoint.isExtension === true, name)
    const { all, or } = endpoint.access
    const ways = operation.security.map((way) => Object.values(way)[0])
    for (const scopes of [all, ...(or ? [[or]] : [])]) {
      assert.equal(ways.filter((way) => JSON.stringify(way) === JSON.stringify(scopes)).length, 2, name)
    }
  }
  const names = operations.map(({ operationId }) => operationId)
  assert.equal(new Set(names).size, names.length)
})

test('the example requests of all endpoints are what the server accepts', () => {
  const exampleQuery = Object.entries(queryExamples)
    .map(([parameter, value]) => `${parameter}=${value}`)
    .join('&')
  for (const name of allNames) {
    const { body, query }: Endpoint = endpoints[name]
    for (const example of Object.values(operationTexts[name].bodies ?? {})) {
      assert.deepEqual(readBody(body!, example), example, name)
    }
    if (query) readQuery(query, exampleQuery)
  }
})

test('an example answer is one to its example request', () => {
  const check = (given: unknown, answered: unknown, path: string): void => {
    if (typeof given !== 'object' || given === null) {
      assert.deepEqual(answered, given, path)
      return
    }
    const known = Object.entries(given).filter(([key]) => Object.hasOwn(answered as object, key))
    for (const [key, value] of known) check(value, (answered as { [key: string]: unknown })[key], `${path}.${key}`)
  }
  for (const name of allNames) {
    const { bodies = {}, answer }: AnyOperationText = operationTexts[name]
    if (typeof answer !== 'object') continue
    const query = (operationOf(name).parameters ?? []).filter((each) => each.in === 'query' && each.required)
    check(Object.fromEntries(query.map((parameter) => [parameter.name, parameter.example])), answer, name)
    check(Object.values(bodies)[0] ?? {}, answer, name)
  }
  const { token, prefix, last_four } = operationTexts.createToken.answer
  assert.deepEqual([token.length, token.slice(0, 4), token.slice(-4)], [40, prefix, last_four])
})

test('objects of the contract are components, and null is a type', () => {
  const { Camera, CameraPage, Problem } = description.components.schemas
  assert.deepEqual(CameraPage!.properties!.results, { type: 'array', items: { $ref: '#/components/schemas/Camera' } })
  assert.deepEqual(Camera!.properties!.status_reason!.type, ['string', 'null'])
  assert.deepEqual(Problem!.required, ['status', 'title', 'detail'])
  const text = JSON.stringify(description)
  assert.ok(!text.includes('"nullable"'))
  assert.ok(!text.includes('this-server'), 'examples name the server that is described')
})

test('what is ours inside of objects is marked, not only said', () => {
  const check = (value: unknown, path: string): void => {
    if (typeof value !== 'object' || value === null) return
    const { description, 'x-nightjar-extension': isMarked } = value as { [key: string]: unknown }
    if (typeof description === 'string' && description.startsWith('Extension.')) assert.equal(isMarked, true, path)
    for (const [key, inner] of Object.entries(value)) check(inner, `${path}/${key}`)
  }
  check(description.components.schemas, '')
  check(description.paths, '')
})

test('/openapi.json is for any page, kept for a while, and not sent again while it is the same', async (t) => {
  const { api } = await openTemporaryApi(t)
  const first = await api.server.inject('/openapi.json')
  assert.equal(first.statusCode, 200)
  assert.equal(first.headers['content-type'], 'application/json')
  assert.equal(first.headers['access-control-allow-origin'], '*')
  assert.match(String(first.headers['cache-control']), /max-age=\d+/)
  assert.deepEqual(first.json(), createDescription(publicUrl))
  const etag = String(first.headers.etag)
  for (const known of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
    const again = await api.server.inject({ url: '/openapi.json', headers: { 'if-none-match': known } })
    assert.deepEqual([again.statusCode, again.body, again.headers.etag], [304, '', etag])
  }
  const other = await api.server.inject({ url: '/openapi.json', headers: { 'if-none-match': '"x"' } })
  assert.equal(other.statusCode, 200)
  const head = await api.server.inject({ method: 'HEAD', url: '/openapi.json' })
  assert.deepEqual(
    [head.statusCode, head.body, head.headers['content-length']],
    [200, '', first.headers['content-length']],
  )
  const preflight = await api.server.inject({ method: 'OPTIONS', url: '/openapi.json' })
  assert.deepEqual([preflight.statusCode, preflight.headers['access-control-allow-origin']], [204, '*'])
})

// Hostile requests: each is refused in the common error format, without revealing internals.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Value } from 'typebox/value'
import { endpointNames, endpoints } from '../../contract/endpoints.ts'
import { Problem } from '../../contract/schema.ts'
import { openTemporaryApi } from '../../test/support/api/temporary-api.ts'

const inner = /\bat .+:\d+:\d+|\.ts\b|node_modules|node:|SQLITE|\bselect\b|\binsert\b|\/(?:tmp|home|root|usr|var)\//i

const detection: ReadonlySet<string> = new Set(['detectStream', 'discoverDevices', 'readDevice'])

const hostile = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.constantFrom(
    "1' or '1'='1",
    '1;drop table users--',
    '../../../etc/passwd',
    '..%2f..%2f',
    '%00',
    '%',
    '%zz',
    '\0',
    '__proto__',
    'constructor',
    'toString',
    '[object Object]',
    '-1',
    '1e309',
    'NaN',
    'Infinity',
    '99999999999999999999',
    '9223372036854775808',
    '\u202e',
    '\ud800',
    '{{7*7}}',
    '<script>',
    '2026-02-30T25:61:61Z',
    'a'.repeat(5000),
  ),
)

test('T43: whatever is sent, no 5xx, the shape of every error, and nothing of the inside', async (t) => {
  const { api, addUser, addCamera } = await openTemporaryApi(t)
  const { userId, authorization } = await addUser('ada@example.com')
  const cameraId = await addCamera(userId)
  const request = fc.record({
    name: fc.constantFrom(...endpointNames),
    parameter: fc.oneof({ weight: 2, arbitrary: fc.constant(String(cameraId)) }, hostile),
    query: fc.array(
      fc.tuple(
        fc.oneof(fc.constantFrom('limit', 'offset', 'start', 'end', 'max_width', 'refresh_rate'), hostile),
        hostile,
      ),
      { maxLength: 4 },
    ),
    isEncoded: fc.boolean(),
    body: fc.option(
      fc.oneof(
        fc.json(),
        hostile,
        fc.dictionary(fc.constantFrom('name', 'url', 'type', 'retention', '__proto__'), fc.anything()),
      ),
      { nil: undefined },
    ),
    type: fc.constantFrom('application/json', 'application/json; charset=x', 'text/plain', 'multipart/form-data', ''),
    credentials: fc.oneof(
      { weight: 4, arbitrary: fc.constant(authorization) },
      hostile.filter((text) => /^[\x21-\x7e]+$/.test(text)),
    ),
  })
  await fc.assert(
    fc.asyncProperty(request, async ({ name, parameter, query, isEncoded, body, type, credentials }) => {
      const { method, path } = endpoints[name]
      const encode = isEncoded ? (text: string) => encodeURIComponent(text.toWellFormed()) : (text: string) => text
      const search = query.map(([key, value]) => `${encode(key)}=${encode(value)}`).join('&')
      // As it could occur in a request line.
      const url = `${path.replaceAll(/\{\w+\}/g, () => encode(parameter))}?${search}`.replaceAll(
        /[^\x21-\x7e]/g,
        (character) => encodeURIComponent(character.toWellFormed()),
      )
      const payload =
        typeof body === 'object' ? JSON.stringify(body, (_, value) => (typeof value === 'bigint' ? 0 : value)) : body
      const response = await api.server.inject({
        method,
        url,
        headers: { authorization: credentials, 'content-type': type },
        ...(payload !== undefined && method !== 'GET' ? { payload } : {}),
      })
      if (response.statusCode < 300) return
      const about = `${method} ${url} ${payload}: ${response.statusCode} ${response.body}`
      // No detector runs here: a request that passes every check is answered with 503.
      const isForDetector = response.statusCode === 503 && detection.has(name)
      assert.ok(response.statusCode < 500 || isForDetector, about)
      assert.equal(response.headers['content-type'], 'application/json', about)
      const problem = response.json()
      assert.ok(Value.Check(Problem, problem), about)
      assert.equal(problem.status, response.statusCode)
      assert.doesNotMatch(problem.detail, inner)
      assert.equal(response.headers['x-powered-by'] ?? response.headers.server, undefined)
    }),
    { numRuns: 1500 },
  )
})

test('T33: ten thousand parameters and deep JSON are refused at once', async (t) => {
  const { api, addUser } = await openTemporaryApi(t)
  const { authorization } = await addUser('ada@example.com')
  const began = process.cpuUsage()
  for (const query of [
    'a=1&'.repeat(10_000),
    'limit=1&'.repeat(10_000),
    `limit=${'9'.repeat(60_000)}`,
    '&'.repeat(60_000),
  ]) {
    const response = await api.server.inject({ url: `/v1/cameras/?${query}`, headers: { authorization } })
    assert.ok([200, 400].includes(response.statusCode), String(response.statusCode))
  }
  for (const payload of [
    '['.repeat(60_000),
    '{"a":'.repeat(12_000),
    `{"name":${'['.repeat(5000)}${']'.repeat(5000)}}`,
  ]) {
    const headers = { authorization, 'content-type': 'application/json' }
    const response = await api.server.inject({ method: 'POST', url: '/v1/cameras/', headers, payload })
    assert.equal(response.statusCode, 400)
  }
  // Of this process alone, however busy the machine is.
  const { user } = process.cpuUsage(began)
  assert.ok(user < 2_000_000, `${user} µs`)
})

// Every parameter and field of every operation with invalid values: the response is 400 and names it, and nothing
// changes.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { operationTexts } from '../../contract/description/operation-texts.ts'
import { queryExamples } from '../../contract/description/parameter-texts.ts'
import type { Endpoint } from '../../contract/endpoint.ts'
import { endpointNames, endpoints } from '../../contract/endpoints.ts'
import { openTemporaryApi } from '../../test/support/api/temporary-api.ts'
import { addApplication } from '../../test/support/auth/temporary-oauth.ts'
import type { Schema } from './description/openapi.ts'

/** A household in which every path of the contract names something; `ids` by the name of the parameter. */
async function open(t: TestContext) {
  const { api, store, addUser, addCamera } = await openTemporaryApi(t)
  const { userId, authorization } = await addUser('ada@example.com', ['user_access', 'account_manage'])
  const other = await addUser('grace@example.com')
  const [camera_id, sharedId] = [await addCamera(userId), await addCamera(other.userId)]
  for (const id of [camera_id, sharedId]) await store.recordings.enable(id, { retention: 'P7D', maxBytes: null })
  const share = { canViewRecordings: true, sharesNotifications: false }
  const guest = await store.guests.insert({ ...share, cameraId: camera_id, email: 'grace@example.com' })
  await store.guests.insert({ ...share, cameraId: sharedId, email: 'ada@example.com' })
  const headers = { authorization, 'content-type': 'application/json' }
  const application = await addApplication(store, { ownerId: userId, name: 'Porch Light' })
  const ids: { [name: string]: number } = {
    camera_id,
    guest_id: guest.id,
    application_id: application.id,
    user_id: other.userId,
  }
  const send = async ({ method, path }: Endpoint, query: string, payload?: object) => {
    const known = path.startsWith('/v1/shared') ? { ...ids, camera_id: sharedId } : ids
    const url = `${path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(known[name]))}?${query}`
    const before = store.version
    const response = await api.server.inject({ method, url, headers, ...(payload && { payload }) })
    return { status: response.statusCode, text: response.body, isChanged: store.version !== before }
  }
  return { send, cameraId: camera_id }
}

const never = ['NaN', 'Infinity', 'null', 'true', 'x', '１２', '[]', '{}', '\u0661', '1,5', '-', '👾', 'x'.repeat(4000)]
const noTimes = [
  '2026-02-30T00:00:00Z',
  '2026-05-01T24:00:00Z',
  '2026-05-01',
  '1777636800',
  '2026-05-01T12:00:00+25:00',
]

/** Invalid texts for a query parameter. */
function badTexts({ type, format, pattern, minimum, exclusiveMinimum, maximum, maxLength }: Schema): string[] {
  if (format === 'date-time') return [...never, ...noTimes]
  if (type === 'string' && pattern !== undefined) return ['<>', 'A', '1,5', '-', '👾', '١', 'x'.repeat(65)]
  if (type === 'string' && maxLength !== undefined) return ['x'.repeat(maxLength + 1)]
  if (type === 'boolean') return ['NaN', '2', 'maybe', '[]', 'x'.repeat(4000)]
  const edge = exclusiveMinimum ?? (minimum === undefined ? undefined : minimum - 1)
  return [
    ...never,
    ...(type === 'integer' ? ['1.5', '1e2', '0x10'] : ['1e400', '0x10', '-Infinity']),
    ...(edge === undefined ? [] : [String(edge), `-${'9'.repeat(40)}`]),
    ...(maximum === undefined ? [] : [String(BigInt(maximum) + 1n), '9'.repeat(400)]),
  ]
}

/** Invalid JSON values for a field; undefined for a missing one. */
function badValues(schema: Schema): unknown[] {
  const options = schema.anyOf ?? [schema]
  const isNullable = options.some(({ type }) => type === 'null')
  const { type, format, pattern, minLength, maxLength, minimum, enum: choices } = options[0]!
  const nothing = isNullable ? [] : [null]
  if (choices) return [...nothing, 'nonsense', '', 5, [], {}]
  switch (type) {
    case 'string':
      return [
        ...[...nothing, 5, true, [], {}, 'a\0b', '\ud800'],
        ...(minLength ? ['', '  '] : []),
        ...(maxLength === undefined ? [] : ['x'.repeat(maxLength + 1)]),
        ...(pattern === undefined ? [] : ['<>', '👾']),
        ...(format === 'date-time' ? ['', ...noTimes] : []),
        ...(format === 'duration' ? ['', 'P', '7 days', '-P1D', 'P999999999D'] : []),
        ...(format?.endsWith('email')
          ? ['x', '@', 'a@', 'a@b@c.example', 'a@b.example\r\nBcc: c@d.example', '"a b"@c.example']
          : []),
      ]
    case 'integer':
    case 'number':
      return [...nothing, 'x', 'NaN', '', [], {}, true, 1.5, ...(minimum === undefined ? [] : [minimum - 1, -1e300])]
    case 'boolean':
      return [...nothing, 'maybe', '', 2, [], {}]
    case 'object':
      return [...nothing, 5, 'x', [], true]
    case 'array':
      return [...nothing, 5, 'x', {}, [5], [null], [[]]]
    default:
      return []
  }
}

test('each query parameter: what it cannot be is 400 and named; empty is missing, of a repeated one the last counts', async (t) => {
  const { send } = await open(t)
  let count = 0
  for (const name of endpointNames) {
    const endpoint: Endpoint = endpoints[name]
    const { properties = {}, required = [] } = JSON.parse(JSON.stringify(endpoint.query ?? {})) as Schema
    // A valid request would delete something.
    if (endpoint.method === 'DELETE') continue
    const good = required.map((parameter) => `${parameter}=${queryExamples[parameter as 'start']}`)
    for (const [parameter, schema] of Object.entries(properties)) {
      const others = good.filter((pair) => !pair.startsWith(`${parameter}=`))
      const ask = async (...pairs: string[]) => {
        const query = [...others, ...pairs].join('&')
        const { status, text, isChanged } = await send(endpoint, query, endpoint.body && {})
        count++
        assert.ok(!isChanged || status < 400, `${name} ${query}`)
        return {
          query: `${name} ${query.slice(0, 200)}`,
          text,
          isNamed: status === 400 && parameter in JSON.parse(text).errors,
        }
      }
      const fine = `${parameter}=${queryExamples[parameter as 'start']}`
      for (const bad of badTexts(schema)) {
        const alone = await ask(`${parameter}=${encodeURIComponent(bad)}`)
        assert.ok(alone.isNamed, `${alone.query} -> ${alone.text}`)
      }
      const wrong = `${parameter}=${encodeURIComponent(badTexts(schema)[0]!)}`
      assert.ok((await ask(fine, wrong)).isNamed, `${name} ${parameter}`)
      const repeated = await ask(wrong, fine)
      assert.ok(!repeated.isNamed, `${repeated.query} -> ${repeated.text}`)
      const empty = await ask(`${parameter}=`)
      assert.equal(empty.isNamed, required.includes(parameter), `${empty.query} -> ${empty.text}`)
    }
  }
  assert.ok(count > 300, String(count))
})

test('each field of each body: what it cannot be is 400 and named, and nothing changes', async (t) => {
  const { send, cameraId } = await open(t)
  let count = 0
  for (const name of endpointNames) {
    const endpoint: Endpoint = endpoints[name]
    if (!endpoint.body) continue
    const { properties = {}, required = [] } = JSON.parse(JSON.stringify(endpoint.body)) as Schema
    const [shown] = Object.values(operationTexts[name].bodies ?? {})
    const example = { ...(shown as object), ...('camera' in properties && { camera: cameraId }) }
    const check = async (field: string, value: unknown) => {
      const { status, text, isChanged } = await send(endpoint, '', { ...example, [field]: value })
      count++
      const about = `${name} ${field}: ${JSON.stringify(value)?.slice(0, 80)} -> ${status} ${text}`
      assert.equal(status, 400, about)
      assert.ok(field in JSON.parse(text).errors, about)
      assert.equal(isChanged, false, about)
    }
    for (const [field, schema] of Object.entries(properties)) {
      for (const value of badValues(schema)) await check(field, value)
      if (required.includes(field)) await check(field, undefined)
    }
  }
  assert.ok(count > 300, String(count))
})

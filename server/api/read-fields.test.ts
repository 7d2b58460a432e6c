import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type TSchema, Type } from 'typebox'
import { endpointNames, endpoints } from '../../contract/endpoints.ts'
import { NewGuest } from '../../contract/guest.ts'
import { AppError } from '../base/error.ts'
import { readBody, readQuery } from './read-fields.ts'
import { readJson } from './read-json.ts'

/** The errors by field, or the value. */
function outcome(read: () => unknown): unknown {
  try {
    return read()
  } catch (error) {
    assert.ok(error instanceof AppError && error.kind === 'invalid')
    return { errors: error.fields, message: error.message }
  }
}

const json = (text: string, contentType = 'application/json') => ({
  bytes: new TextEncoder().encode(text),
  contentType,
  contentEncoding: '',
})

const errorsOf = (schema: TSchema, body: unknown) =>
  (outcome(() => readBody(schema, body)) as { errors: unknown }).errors

test('errors of nested objects are nested, and the message names the path', () => {
  const body = { email: 'nobody', permissions: { can_view_rec: 'perhaps' } }
  assert.deepEqual(
    outcome(() => readBody(NewGuest, body)),
    {
      errors: { email: ['Enter a valid email address.'], permissions: { can_view_rec: ['Must be a valid boolean.'] } },
      message: 'email: Enter a valid email address. permissions.can_view_rec: Must be a valid boolean.',
    },
  )
  assert.deepEqual(errorsOf(NewGuest, { email: 'a@b.c', permissions: [] }), {
    permissions: { non_field_errors: ['A JSON object is required, not an array.'] },
  })
})

test('booleans and integers are read from text, as existing clients send them', () => {
  const schema = Type.Object({ flag: Type.Boolean(), count: Type.Integer() })
  assert.deepEqual(readBody(schema, { flag: 'true', count: ' 12 ' }), { flag: true, count: 12 })
  assert.deepEqual(readBody(schema, { flag: 0, count: '5.0' }), { flag: false, count: 5 })
  assert.deepEqual(errorsOf(schema, { flag: null, count: Number.POSITIVE_INFINITY }), {
    flag: ['This field may not be null.'],
    count: ['A valid integer is required.'],
  })
})

test('an integer of any length is an integer: out of range, or cut where there is no most', () => {
  const schema = Type.Object({ some: Type.Integer({ minimum: 1 }) })
  const bounded = Type.Object({ some: Type.Integer({ minimum: 1, maximum: 2147483647 }) })
  for (const digits of ['9007199254740993', '9223372036854775807', '9'.repeat(400)]) {
    assert.deepEqual(readQuery(schema, `some=${digits}`), { some: Number.MAX_SAFE_INTEGER })
    assert.deepEqual(
      outcome(() => readQuery(bounded, `some=${digits}`)),
      {
        errors: { some: ['Ensure this value is less than or equal to 2147483647.'] },
        message: 'some: Ensure this value is less than or equal to 2147483647.',
      },
    )
    assert.deepEqual((outcome(() => readQuery(schema, `some=-${digits}`)) as { errors: unknown }).errors, {
      some: ['Ensure this value is greater than or equal to 1.'],
    })
  }
  assert.deepEqual(errorsOf(bounded, { some: 1e300 }), {
    some: ['Ensure this value is less than or equal to 2147483647.'],
  })
  for (const some of [Number.NaN, Number.POSITIVE_INFINITY, 1.5, '1e3', '0x10', true])
    assert.deepEqual(errorsOf(schema, { some }), { some: ['A valid integer is required.'] })
})

test('a body that is not an object is explained', () => {
  for (const [given, words] of [
    [null, 'null'],
    [[], 'an array'],
    ['x', 'a string'],
    [5, 'a number'],
    [true, 'a boolean'],
  ] as const) {
    const message = `A JSON object is required, not ${words}.`
    assert.deepEqual(
      outcome(() => readBody(NewGuest, given)),
      { errors: { non_field_errors: [message] }, message },
    )
  }
})

test('the last of repeated parameters counts, an empty one counts as missing, an unknown one is ignored', () => {
  const schema = Type.Object({ limit: Type.Optional(Type.Integer()) })
  assert.deepEqual(readQuery(schema, 'limit=1&limit=2'), { limit: 2 })
  assert.deepEqual(readQuery(schema, 'limit='), {})
  assert.deepEqual(readQuery(schema, 'x=1&__proto__=1&constructor=2'), {})
})

test('names of prototype properties are not fields', () => {
  const schema = Type.Object({ name: Type.String() })
  const hostile = JSON.parse('{"__proto__": {"name": "x"}, "constructor": 1}')
  assert.deepEqual(errorsOf(schema, hostile), { name: ['This field is required.'] })
})

test('any body and query gives a value or named errors', () => {
  const schemas = endpointNames.flatMap((name) => {
    const { body, query } = endpoints[name] as { body?: TSchema; query?: TSchema }
    return [...(body ? [{ body }] : []), ...(query ? [{ query }] : [])] as { body?: TSchema; query?: TSchema }[]
  })
  const value = fc.jsonValue()
  const fields = fc.dictionary(
    fc.constantFrom('name', 'url', 'type', 'retention', 'max_bytes', 'limit', 'start'),
    value,
  )
  fc.assert(
    fc.property(fc.oneof(value, fields), fc.webQueryParameters(), (body, query) => {
      for (const schema of schemas) {
        if (schema.body) outcome(() => readBody(schema.body!, body))
        if (schema.query) outcome(() => readQuery(schema.query!, query))
      }
    }),
  )
})

test('a body that is not UTF-8 is invalid JSON, and compressed bodies are refused', () => {
  const sent = json('{"name":"é"}')
  assert.deepEqual(readJson(sent), { name: 'é' })
  assert.deepEqual(readJson({ ...sent, contentEncoding: 'Identity' }), { name: 'é' })
  const bytes = Uint8Array.from([...sent.bytes.slice(0, 9), 0xff, 0xfe, 0x22, 0x7d])
  assert.throws(() => readJson({ ...sent, bytes }), { message: 'JSON parse error - the body is not valid UTF-8' })
  for (const contentEncoding of ['gzip', 'identity, br', 'x'])
    assert.throws(() => readJson({ ...sent, contentEncoding }), /Unsupported content encoding/)
  assert.throws(() => readJson({ ...sent, contentType: '' }), /is missing: send application\/json/)
})

test('any text is JSON or a parse error', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      try {
        readJson(json(text, 'application/json; charset=utf-8'))
      } catch (error) {
        assert.match((error as Error).message, /^JSON parse error - /)
      }
    }),
  )
  assert.deepEqual(readJson(json('["]]]]{{{{\\"[["]')), [']]]]{{{{"[['])
})

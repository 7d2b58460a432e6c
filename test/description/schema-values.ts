// Values for a schema of the description: those that fit it, those that just do not, and those nobody sends in good faith.

import fc from 'fast-check'
import type { OpenApiDocument, Schema } from '../../server/api/description/openapi.ts'

/** By the name of the property: where a schema alone would give values that make the server reach out into the network. */
export type NamedValues = { readonly [name: string]: fc.Arbitrary<unknown> }

export class SchemaValues {
  readonly #document: OpenApiDocument
  readonly #named: NamedValues

  constructor(document: OpenApiDocument, named: NamedValues = {}) {
    this.#document = document
    this.#named = named
  }

  /** JSON values that fit, unless two conditions that JSON Schema does not know contradict each other. */
  fitting(schema: Schema): fc.Arbitrary<unknown> {
    if (schema.$ref !== undefined) return this.fitting(this.#resolve(schema.$ref))
    if (schema.const !== undefined) return fc.constant(schema.const)
    if (schema.enum) return fc.constantFrom(...schema.enum)
    const options = schema.anyOf ?? schema.oneOf
    if (options) return fc.oneof(...options.map((option) => this.fitting(option)))
    if (typeof schema.type === 'object') {
      return fc.oneof(...schema.type.map((type) => this.fitting({ ...schema, type })))
    }
    switch (schema.type) {
      case 'object':
        return this.#objects(schema)
      case 'array':
        return fc.array(this.fitting(schema.items ?? {}), { maxLength: Math.min(schema.maxItems ?? 4, 4) })
      case 'integer':
        return integers(schema)
      case 'number':
        return fc.double({
          min: schema.exclusiveMinimum ?? schema.minimum ?? -1e6,
          max: schema.maximum ?? 1e6,
          noNaN: true,
        })
      case 'boolean':
        return fc.boolean()
      case 'null':
        return fc.constant(null)
      case 'string':
        return strings(schema)
      default:
        return fc.jsonValue({ maxDepth: 3 })
    }
  }

  /** As `fitting`, with some of its keys missing, of another kind, or strange. */
  nearlyFitting(schema: Schema): fc.Arbitrary<unknown> {
    const resolved = schema.$ref === undefined ? schema : this.#resolve(schema.$ref)
    const names = Object.keys(resolved.properties ?? {})
    if (names.length === 0) return hostileJson
    const changes = fc.dictionary(fc.constantFrom(...names), fc.option(hostileJson, { nil: undefined }), {
      minKeys: 1,
      maxKeys: 2,
    })
    return fc
      .tuple(this.fitting(resolved), changes)
      .map(([fitting, changed]) => ({ ...(fitting as object), ...changed }))
  }

  #objects({ properties = {}, required = [] }: Schema): fc.Arbitrary<unknown> {
    const values = Object.entries(properties).map(
      ([name, property]) => [name, this.#named[name] ?? this.fitting(property)] as const,
    )
    return fc.record(Object.fromEntries(values), { requiredKeys: [...required] })
  }

  #resolve(reference: string): Schema {
    return this.#document.components.schemas[reference.split('/').at(-1)!]!
  }
}

function integers({ minimum = -1000, maximum = 100_000 }: Schema): fc.Arbitrary<number> {
  return fc.oneof(
    fc.integer({ min: minimum, max: Math.min(maximum, minimum + 1000) }),
    fc.constantFrom(minimum, maximum),
    fc.maxSafeInteger().map((value) => Math.min(Math.max(value, minimum), maximum)),
  )
}

function strings({ format, pattern, minLength = 0, maxLength = 300 }: Schema): fc.Arbitrary<string> {
  const inRange = (text: string) => text.length >= minLength && text.length <= maxLength
  switch (format) {
    case 'date-time':
      return times
    case 'email':
    case 'idn-email':
      return fc.oneof(
        fc.emailAddress().filter(inRange),
        fc.constantFrom('grace@example.com', 'Grace@Example.COM', 'anna@bücher.example'),
      )
    case 'uri':
      return fc.webUrl()
    case 'duration':
      return fc.oneof(
        fc.constantFrom('P7D', 'P1W', 'PT1H', 'P1DT12H'),
        fc.tuple(fc.nat(40_000), fc.constantFrom('D', 'W')).map(([n, unit]) => `P${n}${unit}`),
      )
    default:
      if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern), { maxLength: Math.min(maxLength, 100) })
      return fc.string({ unit: 'grapheme', minLength, maxLength: Math.min(maxLength, 100) })
  }
}

/** Mostly of the last minutes, where there may be footage; in all forms that are accepted. */
const times = fc
  .tuple(
    fc.oneof(
      fc.integer({ min: -600_000, max: 60_000 }).map((ms) => Date.now() + ms),
      fc
        .date({ min: new Date('1970-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
        .map((date) => date.getTime()),
    ),
    fc.constantFrom('Z', '', '+00:00', '-05:30', '.123456Z', 'minutes'),
  )
  .map(([ms, form]) => {
    const text = new Date(ms).toISOString()
    return form === 'minutes' ? text.slice(0, 16) : `${text.slice(0, 19)}${form}`
  })

export const hostileText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.constantFrom(
    '',
    ' ',
    'NaN',
    'Infinity',
    '-Infinity',
    '1e400',
    '-1',
    '0',
    '1.5',
    '0x10',
    '１２',
    'null',
    'undefined',
    'true',
    '[]',
    '{}',
    '2147483648',
    '9007199254740993',
    '99999999999999999999',
    '2026-02-30T00:00:00Z',
    '2026-05-01T24:00:00Z',
    '\0',
    '\r\nX-Injected: yes',
    '\u202egnp.exe',
    '\ufeff',
    '\ud800',
    '👩‍👩‍👧‍👦',
    '__proto__',
    'constructor',
    "' or 1=1 --",
    '../../etc/passwd',
    '<script>alert(1)</script>',
    'x'.repeat(5000),
  ),
)

/** Any JSON, without what `JSON.stringify` would leave out. */
export const hostileJson: fc.Arbitrary<unknown> = fc.oneof(
  hostileText,
  fc.constantFrom<unknown[]>(null, true, [], {}, [[]], -1, 0, 1.5, 1e308, -1e308, Number.MAX_SAFE_INTEGER, [null], {
    __proto__: null,
  }),
  fc.jsonValue({ maxDepth: 4 }),
)

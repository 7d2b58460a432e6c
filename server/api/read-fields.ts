// Reads the fields of a query or body by the schema of the contract and describes each error. The messages are those of
// Django REST framework, which existing clients know. Fields the schema does not name are ignored.

import type { TSchema } from 'typebox'
import { AppError, type FieldErrors } from '../base/error.ts'
import { parseEmail } from '../model/email.ts'
import { countCharacters } from '../model/text.ts'
import { parseTime, timeFormatMessage } from '../model/time.ts'
import { writeFieldErrors } from './field-errors.ts'

/** The parts of JSON Schema that the contract uses for input. */
type Schema = {
  readonly type?: string
  readonly properties?: { readonly [name: string]: Schema }
  readonly required?: readonly string[]
  readonly anyOf?: readonly Schema[]
  readonly enum?: readonly unknown[]
  readonly format?: string
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly items?: Schema
  readonly maxItems?: number
}

type Reading = { readonly value: unknown } | { readonly errors: FieldErrors | readonly string[] }

/** The query as its schema describes it. Of a repeated parameter the last counts; an empty one counts as missing. */
export function readQuery(schema: TSchema, query: string): unknown {
  const source: Record<string, unknown> = Object.create(null)
  for (const [name, value] of new URLSearchParams(query)) source[name] = value === '' ? undefined : value
  return take(readObject(schema as Schema, source))
}

/** The body as its schema describes it; `names`: only these fields are looked at. */
export function readBody(schema: TSchema, body: unknown, names?: readonly string[]): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    const reason = `A JSON object is required, not ${nameOf(body)}.`
    throw new AppError('invalid', reason, { fields: { non_field_errors: [reason] } })
  }
  return take(readObject(schema as Schema, body, names))
}

function take(reading: Reading): unknown {
  if ('value' in reading) return reading.value
  const fields = reading.errors as FieldErrors
  throw new AppError('invalid', writeFieldErrors(fields), { fields })
}

function readObject(schema: Schema, source: object, names?: readonly string[]): Reading {
  const value: Record<string, unknown> = {}
  const errors: Record<string, FieldErrors | readonly string[]> = {}
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (names && !names.includes(name)) continue
    const given: unknown = Object.hasOwn(source, name) ? (source as Record<string, unknown>)[name] : undefined
    if (given === undefined) {
      if (schema.required?.includes(name)) errors[name] = ['This field is required.']
      continue
    }
    const reading = read(property, given)
    if ('value' in reading) value[name] = reading.value
    else errors[name] = reading.errors
  }
  return Object.keys(errors).length > 0 ? { errors } : { value }
}

function read(schema: Schema, given: unknown): Reading {
  if (schema.anyOf) {
    const rest = schema.anyOf.find((option) => option.type !== 'null')!
    return given === null ? { value: null } : read(rest, given)
  }
  // Anything at all.
  if (schema.type === undefined && schema.enum === undefined) return { value: given }
  if (given === null) return fail('This field may not be null.')
  if (schema.enum)
    return schema.enum.includes(given) ? { value: given } : fail(`"${show(given)}" is not a valid choice.`)
  switch (schema.type) {
    case 'object':
      if (typeof given === 'object' && !Array.isArray(given)) return readObject(schema, given)
      return { errors: { non_field_errors: [`A JSON object is required, not ${nameOf(given)}.`] } }
    case 'integer':
      return readInteger(schema, given)
    case 'number':
      return readNumber(schema, given)
    case 'boolean':
      return readBoolean(given)
    case 'string':
      return readString(schema, given)
    case 'array':
      return readArray(schema, given)
    default:
      return { value: given }
  }
}

function readArray({ items, maxItems = Number.POSITIVE_INFINITY }: Schema, given: unknown): Reading {
  if (!Array.isArray(given)) return fail(`A JSON array is required, not ${nameOf(given)}.`)
  if (given.length > maxItems) return fail(`Ensure this field has no more than ${maxItems} elements.`)
  const value: unknown[] = []
  const errors: Record<string, FieldErrors | readonly string[]> = {}
  for (const [index, item] of given.entries()) {
    const reading = read(items!, item)
    if ('value' in reading) value.push(reading.value)
    else errors[index] = reading.errors
  }
  return Object.keys(errors).length > 0 ? { errors } : { value }
}

/** Integers too large for a number are integers all the same: out of range, or as many as there can be. */
function readInteger(schema: Schema, given: unknown): Reading {
  const isInteger =
    typeof given === 'number'
      ? Number.isInteger(given)
      : typeof given === 'string' && /^\s*[+-]?\d+(?:\.0*)?\s*$/.test(given)
  if (!isInteger) return fail('A valid integer is required.')
  const reading = checkRange(schema, Number(given))
  if (!('value' in reading)) return reading
  const value = reading.value as number
  return { value: Math.min(Math.max(value, Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER) }
}

function readNumber(schema: Schema, given: unknown): Reading {
  const isNumber = typeof given === 'number' || (typeof given === 'string' && decimal.test(given))
  const value = isNumber ? Number(given) : Number.NaN
  return Number.isFinite(value) ? checkRange(schema, value) : fail('A valid number is required.')
}

const decimal = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?\s*$/i

function checkRange(schema: Schema, value: number): Reading {
  if (schema.minimum !== undefined && value < schema.minimum) {
    return fail(`Ensure this value is greater than or equal to ${schema.minimum}.`)
  }
  if (schema.exclusiveMinimum !== undefined && value <= schema.exclusiveMinimum) {
    return fail(`Ensure this value is greater than ${schema.exclusiveMinimum}.`)
  }
  if (schema.maximum !== undefined && value > schema.maximum) {
    return fail(`Ensure this value is less than or equal to ${schema.maximum}.`)
  }
  return { value }
}

function readBoolean(given: unknown): Reading {
  if (typeof given === 'boolean') return { value: given }
  if (given === 'true' || given === 'True' || given === '1' || given === 1) return { value: true }
  if (given === 'false' || given === 'False' || given === '0' || given === 0) return { value: false }
  return fail('Must be a valid boolean.')
}

function readString(schema: Schema, given: unknown): Reading {
  if (typeof given !== 'string' || !given.isWellFormed()) return fail('Not a valid string.')
  if (given.includes('\0')) return fail('Null characters are not allowed.')
  if (schema.format === 'date-time') return parseTime(given) === undefined ? fail(timeFormatMessage) : { value: given }
  const value = schema.minLength ? given.trim() : given
  if (value.length < (schema.minLength ?? 0)) return fail('This field may not be blank.')
  if (countCharacters(value) > (schema.maxLength ?? Number.POSITIVE_INFINITY)) {
    return fail(`Ensure this field has no more than ${schema.maxLength} characters.`)
  }
  if (schema.pattern && !new RegExp(schema.pattern).test(value))
    return fail('This value does not match the required pattern.')
  if (schema.format === 'idn-email' && !isEmail(value)) return fail('Enter a valid email address.')
  return { value }
}

function isEmail(text: string): boolean {
  try {
    parseEmail(text)
    return true
  } catch {
    return false
  }
}

const fail = (reason: string): Reading => ({ errors: [reason] })

const show = (given: unknown): string => (typeof given === 'string' ? given : JSON.stringify(given)).slice(0, 40)

/** Names the type of a JSON value. */
function nameOf(given: unknown): string {
  if (given === null || given === undefined) return 'null'
  if (Array.isArray(given)) return 'an array'
  return typeof given === 'object' ? 'an object' : `a ${typeof given}`
}

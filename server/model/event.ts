// Events: rules for what may be reported about a camera.

import { AppError } from '../base/error.ts'
import { parseTime, timeFormatMessage } from './time.ts'

/**
 * The source of an event: a program with a token, a device with the camera's hash, the camera itself, or this server.
 */
export type EventSource = 'api' | 'device' | 'camera' | 'system'

export const defaultCategory = 'generic'
export const maxTitleLength = 200
/** Size of the compact JSON in UTF-8. */
export const maxDataBytes = 4096
const maxDataDepth = 16
/**
 * How far a clock may be ahead, including wrong time zones. Events further ahead would stay on top of every list until
 * then.
 */
const maxAheadMs = 86_400_000

const categoryPattern = /^[a-z0-9_]{1,64}$/

export function isCategory(text: string): boolean {
  return categoryPattern.test(text)
}

/** Unix milliseconds; defaults to now. Throws 'invalid' naming `occurred_at`. */
export function getOccurredAt(text: string | undefined, nowMs: number): number {
  if (text === undefined) return nowMs
  const timeMs = parseTime(text)
  if (timeMs === undefined) throw invalid('occurred_at', timeFormatMessage)
  if (timeMs > nowMs + maxAheadMs) throw invalid('occurred_at', 'Ensure this time is at most one day in the future.')
  return timeMs
}

/** JSON text; null for none. `data` is any JSON value. Throws 'invalid' naming `data`. */
export function writeEventData(data: unknown): string | null {
  if (data === undefined || data === null) return null
  const fault = findFault(data, 1)
  if (fault !== undefined) throw invalid('data', fault)
  const json = JSON.stringify(data)
  // Every character takes at least a byte, so most data that is too long need not be measured.
  if (json.length > maxDataBytes || countUtf8Bytes(json) > maxDataBytes) {
    throw invalid('data', `Ensure this field has no more than ${maxDataBytes} bytes of JSON.`)
  }
  return json
}

/** Values that could not be returned unchanged. */
function findFault(value: unknown, depth: number): string | undefined {
  if (typeof value === 'string') return findTextFault(value)
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : 'A valid number is required.'
  if (typeof value !== 'object' || value === null) return undefined
  if (depth > maxDataDepth) return `Ensure this field is nested no deeper than ${maxDataDepth} levels.`
  for (const [key, item] of Object.entries(value)) {
    const fault = findTextFault(key) ?? findFault(item, depth + 1)
    if (fault !== undefined) return fault
  }
  return undefined
}

function findTextFault(text: string): string | undefined {
  if (!text.isWellFormed()) return 'Not a valid string.'
  return text.includes('\0') ? 'Null characters are not allowed.' : undefined
}

/** Length of well-formed text in UTF-8. */
function countUtf8Bytes(text: string): number {
  let bytes = 0
  for (const character of text) {
    const code = character.codePointAt(0)!
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
  }
  return bytes
}

function invalid(field: string, reason: string): AppError {
  return new AppError('invalid', `${field}: ${reason}`, { fields: { [field]: [reason] } })
}

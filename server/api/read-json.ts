// Parses the body of a request as JSON. Checks the type, nesting and syntax, but not the fields (see read-fields.ts).

import { parseError, unsupportedEncoding, unsupportedMediaType } from './problem.ts'
import type { SentBody } from './request-body.ts'

export const maxBodyBytes = 64 * 1024
const maxDepth = 32

/** An empty body counts as an empty object, so missing fields are reported by name. Throws 415 and `parse_error`. */
export function readJson({ bytes, contentType, contentEncoding }: SentBody): unknown {
  if (bytes === undefined || bytes.length === 0) return {}
  const mediaType = contentType.split(';', 1)[0]!.trim().toLowerCase()
  if (mediaType !== 'application/json') throw unsupportedMediaType(mediaType.slice(0, 100))
  if (!/^(?:identity)?$/i.test(contentEncoding.trim())) throw unsupportedEncoding(contentEncoding.slice(0, 100))
  return parseJson(bytes)
}

/** Returns a field of the body without checking the content type, or undefined if the body has no such field. */
export function findInJson({ bytes }: SentBody, name: string): unknown {
  try {
    const value = bytes && parseJson(bytes)
    const isObject = typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    return isObject ? (value as Record<string, unknown>)[name] : undefined
  } catch {
    return undefined
  }
}

function parseJson(bytes: Uint8Array): unknown {
  const text = readText(bytes)
  if (depthOf(text) > maxDepth) throw parseError(`nested deeper than ${maxDepth} levels`)
  try {
    return JSON.parse(text)
  } catch {
    throw parseError('the body is not valid JSON')
  }
}

/** RFC 8259 section 8.1: UTF-8; a byte order mark is skipped. */
function readText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw parseError('the body is not valid UTF-8')
  }
}

/** How deep brackets nest outside of strings; of text that is no JSON, some number. */
function depthOf(text: string): number {
  let depth = 0
  let deepest = 0
  let isString = false
  for (let i = 0; i < text.length; i++) {
    const character = text[i]
    if (isString) {
      if (character === '\\') i++
      else if (character === '"') isString = false
    } else if (character === '"') isString = true
    else if (character === '{' || character === '[') deepest = Math.max(deepest, ++depth)
    else if (character === '}' || character === ']') depth--
  }
  return deepest
}

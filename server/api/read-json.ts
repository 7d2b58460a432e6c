// The body of a request as a JSON value: type, nesting and syntax are checked, its fields are not (see read-fields.ts).

import { parseError, unsupportedMediaType } from './problem.ts'

export const maxBodyBytes = 64 * 1024
const maxDepth = 32

/** `text` undefined or empty: an empty object, so that what is missing is named field by field. Throws 415 and `parse_error`. */
export function readJson(text: string | undefined, contentType: string | undefined): unknown {
  if (text === undefined || text === '') return {}
  const mediaType = (contentType ?? '').split(';', 1)[0]!.trim().toLowerCase()
  if (mediaType !== 'application/json') throw unsupportedMediaType(mediaType.slice(0, 100))
  if (depthOf(text) > maxDepth) throw parseError(`nested deeper than ${maxDepth} levels`)
  try {
    return JSON.parse(text)
  } catch {
    throw parseError('the body is not valid JSON')
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

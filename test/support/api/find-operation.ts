// Finds the operation of the description that a request is for.

import type { Method, OpenApiDocument, Operation, PathItem } from '../../../server/api/description/openapi.ts'

export type FoundPath = { readonly path: string; readonly item: PathItem }

/**
 * `path`: the path of the request without its query, with or without a trailing slash. If several templates match,
 * returns the one with the fewest parameters.
 */
export function findPath({ paths }: OpenApiDocument, path: string): FoundPath | undefined {
  const segments = splitPath(path)
  const fitting = Object.keys(paths).filter((template) => fits(splitPath(template), segments))
  const best = fitting.sort((a, b) => countParameters(a) - countParameters(b))[0]
  return best === undefined ? undefined : { path: best, item: paths[best]! }
}

/** HEAD is described by GET. Its responses have no body. */
export function operationOf({ item }: FoundPath, method: string): Operation | undefined {
  const name = method.toLowerCase()
  return item[(name === 'head' ? 'get' : name) as Method]
}

const splitPath = (path: string): string[] => path.replace(/\/$/, '').split('/')

/** A parameter may be empty: `/v1/cameras//` names a camera that does not exist. */
function fits(template: readonly string[], segments: readonly string[]): boolean {
  return (
    template.length === segments.length && template.every((part, i) => part.startsWith('{') || part === segments[i])
  )
}

const countParameters = (template: string): number => template.split('{').length

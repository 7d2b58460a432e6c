// The operation of the description that a request is for.

import type { Method, OpenApiDocument, Operation, PathItem } from './openapi.ts'

export type FoundPath = { readonly path: string; readonly item: PathItem }

/** `path`: as asked for, without query. Of several templates that fit, the one with the fewest parameters. */
export function findPath({ paths }: OpenApiDocument, path: string): FoundPath | undefined {
  const segments = path.replace(/\/$/, '').split('/')
  const fitting = Object.keys(paths).filter((template) => fits(template.split('/'), segments))
  const best = fitting.sort((a, b) => countParameters(a) - countParameters(b))[0]
  return best === undefined ? undefined : { path: best, item: paths[best]! }
}

/** HEAD is answered as GET, without the body. */
export function operationOf({ item }: FoundPath, method: string): Operation | undefined {
  const name = method.toLowerCase()
  return item[(name === 'head' ? 'get' : name) as Method]
}

/** A parameter at the end is not empty: that is the path before it, with a slash. */
function fits(template: readonly string[], segments: readonly string[]): boolean {
  return (
    template.length === segments.length &&
    template.every((part, i) =>
      part.startsWith('{') ? i < template.length - 1 || segments[i] !== '' : part === segments[i],
    )
  )
}

const countParameters = (template: string): number => template.split('{').length

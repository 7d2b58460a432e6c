// Which files refer to which others: read from the text of the sources, for the checks of this folder.

import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

export type Reference = {
  /** As written, such as `../hub/camera-hub.ts` or `node:fs`. */
  readonly specifier: string
  /** The file from the root of the repository; undefined for packages and Node.js modules. */
  readonly target: string | undefined
  /** `program`: a file that is started as a thread or process, or read, by `new URL(…, import.meta.url)`. */
  readonly kind: 'import' | 'program'
}

/** Imports and re-exports, on one or many lines. */
const staticImport = /^\s*(?:import|export)\s(?:[^'"=]*?\bfrom\s*)?['"]([^'"]+)['"]/gm
/** Dynamic imports, also of types. */
const dynamicImport = /\bimport\(\s*['"]([^'"]+)['"]/g
const program = /\bnew URL\(\s*['"](\.[^'"]+)['"],\s*import\.meta\.url/g
const cssImport = /@import\s+(?:url\(\s*)?['"]?([^'")\s;]+)|\burl\(\s*['"]?([^'")\s]+)/g

/** By line, because globs and paths in strings look like the ends of comments. */
const commentLine = /^\s*(?:\/\/|\/?\*).*/gm

/** All references in a TypeScript, JavaScript or CSS file, in no particular order. */
export function findReferences(path: string, text: string): Reference[] {
  const resolve = (specifier: string, kind: Reference['kind']): Reference => {
    const target = specifier.startsWith('.') ? normalize(join(dirname(path), specifier)) : undefined
    return { specifier, target, kind }
  }
  if (path.endsWith('.css')) {
    return [...text.replaceAll(/\/\*[\s\S]*?\*\//g, '').matchAll(cssImport)]
      .map(([, imported, url]) => imported ?? url!)
      .filter((url) => !/^(?:[a-z]+:|#|\/)/i.test(url)) // elsewhere, or in the document itself
      .map((url) => resolve(url.startsWith('.') ? url : `./${url}`, 'import'))
  }
  const code = text.replaceAll(commentLine, '')
  return [
    ...[staticImport, dynamicImport].flatMap((form) =>
      [...code.matchAll(form)].map(([, to]) => resolve(to!, 'import')),
    ),
    ...[...code.matchAll(program)].map(([, to]) => resolve(to!, 'program')),
  ]
}

/** The text of every source file by its path from the root of the repository. */
export function readSources(): ReadonlyMap<string, string> {
  const paths = globSync('{contract,server,sdk,web,scripts,bench,test,examples}/**/*.{ts,tsx,js,json,css}', {
    exclude: ['**/node_modules/**', '**/dist/**'],
  })
  return new Map(paths.map((path) => [path, readFileSync(path, 'utf8')]))
}

/** `roots` and the files that they refer to, directly or not. `enters`: whether a file is followed. */
export function findReachable(
  roots: Iterable<string>,
  sources: ReadonlyMap<string, string>,
  enters: (path: string) => boolean,
): Set<string> {
  const reached = new Set<string>()
  const pending = [...roots]
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    if (reached.has(path) || !enters(path)) continue
    reached.add(path)
    for (const { target } of findReferences(path, sources.get(path) ?? '')) {
      if (target !== undefined) pending.push(target)
    }
  }
  return reached
}

/**
 * Groups of files that import each other, directly or not, also by imports of types alone; each group is sorted. Started
 * programs are no imports: a program may be written in the file that starts it.
 */
export function findCycles(sources: ReadonlyMap<string, string>): string[][] {
  // Tarjan's algorithm: `low` is the oldest file on the stack that a file reaches.
  const order = new Map<string, number>()
  const low = new Map<string, number>()
  const stack: string[] = []
  const cycles: string[][] = []
  const visit = (path: string): number => {
    const index = order.size
    order.set(path, index)
    low.set(path, index)
    stack.push(path)
    let importsItself = false
    for (const { target, kind } of findReferences(path, sources.get(path)!)) {
      if (target === undefined || kind !== 'import' || !sources.has(target)) continue
      importsItself ||= target === path
      if (!order.has(target)) low.set(path, Math.min(low.get(path)!, visit(target)))
      else if (stack.includes(target)) low.set(path, Math.min(low.get(path)!, order.get(target)!))
    }
    if (low.get(path) === index) {
      const group = stack.splice(stack.indexOf(path))
      if (group.length > 1 || importsItself) cycles.push(group.sort())
    }
    return low.get(path)!
  }
  for (const path of sources.keys()) if (!order.has(path)) visit(path)
  return cycles
}

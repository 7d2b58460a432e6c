// Which test files depend on changed files, by the imports between source files.

import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

/** Imports, re-exports, dynamic imports, and programs that are started: `new URL(…, import.meta.url)`. */
const reference = /(?:\bfrom|\bimport|\bimport\(|\bnew URL\()\s*['"](\.[^'"]+)['"]/g

/** Changes of these affect everything. */
const global = /^(package(-lock)?\.json|tsconfig\.json)$/

export function readSources(): ReadonlyMap<string, string> {
  const paths = globSync('{contract,server,sdk,web,scripts,bench,test,examples}/**/*.{ts,tsx,js,json,css}', {
    exclude: ['**/node_modules/**', '**/dist/**'],
  })
  return new Map(paths.map((path) => [path, readFileSync(path, 'utf8')]))
}

/**
 * The tests among `tests` that are changed or import a changed file, directly or not. `sources`: text by path. All tests
 * if a changed file affects everything.
 */
export function findAffectedTests(
  tests: readonly string[],
  changed: readonly string[],
  sources: ReadonlyMap<string, string>,
): string[] {
  if (changed.some((path) => global.test(path))) return [...tests]
  const importers = new Map<string, string[]>()
  for (const [path, text] of sources) {
    for (const [, target] of text.matchAll(reference)) {
      const to = normalize(join(dirname(path), target!))
      importers.set(to, [...(importers.get(to) ?? []), path])
    }
  }
  const affected = new Set<string>()
  const pending = [...changed]
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    if (affected.has(path)) continue
    affected.add(path)
    pending.push(...(importers.get(path) ?? []))
  }
  return tests.filter((path) => affected.has(path))
}

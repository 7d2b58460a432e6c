// Which test files depend on changed files, by the imports between source files.

import { findReferences } from './module-graph.ts'

/** Changes of these affect everything. */
const global = /^(package(-lock)?\.json|tsconfig\.json)$/

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
    for (const { target } of findReferences(path, text)) {
      if (target !== undefined) importers.set(target, [...(importers.get(target) ?? []), path])
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

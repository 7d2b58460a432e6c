// Fails when a page of the documentation links to a file that is not there, or names a path in backticks that is not there.

import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const link = /\]\((?!https?:|mailto:|#)([^)\s#]+)(?:#[^)]*)?\)/g
/** A path below a folder of the project, without wildcards or parameters. */
const namedPath = /`((?:\.\/)?(?:contract|server|sdk|web|test|bench|docs|scripts|examples)\/[\w./-]+)`/g

export function findBrokenReferences(page: string, text: string, exists: (path: string) => boolean): string[] {
  const broken: string[] = []
  for (const [, target] of text.matchAll(link)) {
    if (!exists(join(dirname(page), target!))) broken.push(`${page}: link to ${target}`)
  }
  for (const [, path] of text.matchAll(namedPath)) {
    if (!exists(path!)) broken.push(`${page}: names ${path}`)
  }
  return broken
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const pages = globSync('{*.md,docs/**/*.md,sdk/*.md,examples/*.md}')
  const broken = pages.flatMap((page) => findBrokenReferences(page, readFileSync(page, 'utf8'), existsSync))
  for (const line of broken) console.error(line)
  process.exitCode = broken.length === 0 ? 0 : 1
}

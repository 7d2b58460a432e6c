// Fails when a page of the documentation links to, or names in backticks, a file that does not exist, and when a comment in
// the code names a source file that does not exist.

import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
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

const comment = /^\s*(?:\/\/|\/?\*).*$/gm
const namedFile = /(?<![\w<-])([a-z][\w-]*\.(?:ts|tsx|css))\b/g

/** `names`: the base names of all files. */
export function findStaleComments(path: string, text: string, names: ReadonlySet<string>): string[] {
  const lines = text.match(comment) ?? []
  const named = lines.flatMap((line) => Array.from(line.matchAll(namedFile), ([, name]) => name!))
  return named.filter((name) => !names.has(name)).map((name) => `${path}: a comment names ${name}`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const pages = globSync('{*.md,docs/**/*.md,sdk/*.md,examples/*.md}')
  const broken = pages.flatMap((page) => findBrokenReferences(page, readFileSync(page, 'utf8'), existsSync))
  const sources = globSync('{contract,server,sdk,web,test,bench,scripts,examples}/**/*.{ts,tsx,css}', {
    exclude: ['**/node_modules/**', '**/dist/**'],
  })
  const names = new Set(sources.map((path) => basename(path)))
  broken.push(...sources.flatMap((path) => findStaleComments(path, readFileSync(path, 'utf8'), names)))
  for (const line of broken) console.error(line)
  process.exitCode = broken.length === 0 ? 0 : 1
}

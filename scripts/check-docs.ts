// Fails when a page of the documentation links to a file or heading, or names a file in backticks, that does not exist; when
// a comment in the code names a source file that does not exist; and when the guide explains a log message that the server
// does not write.

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

const headingLink = /\]\((?!https?:|mailto:)([^)\s#]*)#([^)\s]+)\)/g

/** `read` returns undefined for a file that does not exist or is not a page. */
export function findMissingHeadings(page: string, text: string, read: (path: string) => string | undefined): string[] {
  return Array.from(text.matchAll(headingLink)).flatMap(([, target, anchor]) => {
    const linked = target === '' ? text : read(join(dirname(page), target!))
    if (linked === undefined || listAnchors(linked).has(anchor!)) return []
    return [`${page}: link to ${target}#${anchor}`]
  })
}

/** The anchors that GitHub and most Markdown renderers give to headings. */
function listAnchors(text: string): Set<string> {
  const anchors = new Set<string>()
  for (const [, heading] of text.replaceAll(/^ *```.*?^ *```/gms, '').matchAll(/^#+ (.+)$/gm)) {
    const slug = heading!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
      .replaceAll(' ', '-')
    let anchor = slug
    for (let count = 1; anchors.has(anchor); count++) anchor = `${slug}-${count}`
    anchors.add(anchor)
  }
  return anchors
}

const troubleshooting = 'docs/guide/troubleshooting.md'

/** `page` explains log messages in tables below the heading "By log line". `sources` is the text of the server. */
export function findUnknownMessages(page: string, sources: string): string[] {
  const [, tables] = page.split('## By log line')
  const messages = Array.from((tables ?? '').matchAll(/^\| `([^`]+)` \|/gm), ([, message]) => message!)
  if (messages.length === 0) return [`${troubleshooting}: explains no log messages`]
  return messages
    .filter((message) => !sources.includes(message))
    .map((message) => `${troubleshooting}: the server does not log "${message}"`)
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
  const readPage = (path: string) => (path.endsWith('.md') && existsSync(path) ? readFileSync(path, 'utf8') : undefined)
  broken.push(...pages.flatMap((page) => findMissingHeadings(page, readFileSync(page, 'utf8'), readPage)))
  const sources = globSync('{contract,server,sdk,web,test,bench,scripts,examples}/**/*.{ts,tsx,css}', {
    exclude: ['**/node_modules/**', '**/dist/**'],
  })
  const names = new Set(sources.map((path) => basename(path)))
  broken.push(...sources.flatMap((path) => findStaleComments(path, readFileSync(path, 'utf8'), names)))
  const server = sources.filter((path) => path.startsWith('server/') && !path.endsWith('.test.ts'))
  const serverText = server.map((path) => readFileSync(path, 'utf8')).join('\n')
  broken.push(...findUnknownMessages(readFileSync(troubleshooting, 'utf8'), serverText))
  for (const line of broken) console.error(line)
  process.exitCode = broken.length === 0 ? 0 : 1
}

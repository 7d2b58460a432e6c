// Fails when an identifier, a text, a comment, a file name or a page of the documentation contains a word that the
// glossary replaces by another one (docs/glossary.md, "Words that are not used").

import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const glossary = 'docs/glossary.md'

export type UnusedWord = {
  readonly word: string
  readonly instead: string
  /** Folders and files in which the word has another meaning. */
  readonly allowedIn: readonly string[]
}

/** Reads the last table of the glossary. Throws if there is none. */
export function parseUnusedWords(page: string): UnusedWord[] {
  const [, table] = page.split('## Words that are not used')
  const rows = (table ?? '').split('\n').filter((line) => line.startsWith('|'))
  const words = rows.slice(2).map((row) => {
    const [, word = '', instead = '', allowed = ''] = row.split('|').map((cell) => cell.trim())
    return { word, instead, allowedIn: Array.from(allowed.matchAll(/`([^`]+)`/g), ([, path]) => path!) }
  })
  if (words.length === 0) throw new Error(`${glossary} has no table of words that are not used`)
  return words
}

/** One line per use. */
export function findUnusedWords(path: string, text: string, words: readonly UnusedWord[]): string[] {
  const banned = words.filter(
    ({ allowedIn }) => !allowedIn.some((each) => path === each || path.startsWith(`${each}/`)),
  )
  const found: string[] = []
  for (const [index, line] of [path, ...text.split('\n')].entries()) {
    const used = new Set(splitWords(line))
    for (const { word, instead } of banned) {
      if (used.has(word) || used.has(toPlural(word)))
        found.push(`${path}:${index}: "${word}" is not used; use ${instead} (${glossary})`)
    }
  }
  return found
}

/** Words in lower case; those of identifiers are separated. */
function splitWords(line: string): string[] {
  return line
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
}

function toPlural(word: string): string {
  return word.endsWith('y') ? `${word.slice(0, -1)}ies` : `${word}s`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const words = parseUnusedWords(readFileSync(glossary, 'utf8'))
  const files = globSync(
    [
      '{contract,server,sdk,web,test,bench,scripts,examples}/**/*.{ts,tsx,css,py}',
      '{docs,sdk,examples}/**/*.md',
      '*.md',
      'NOTICE',
    ],
    { exclude: ['**/node_modules/**', '**/dist/**', glossary] },
  )
  const found = files.flatMap((path) => findUnusedWords(path, readFileSync(path, 'utf8'), words))
  for (const line of found) console.error(line)
  process.exitCode = found.length === 0 ? 0 : 1
}

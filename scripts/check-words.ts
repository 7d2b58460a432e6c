// Fails when an identifier, a text, a comment, a file name or a page of the documentation contains a word that the
// glossary replaces by another one (docs/glossary.md, "Words that are not used").

import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const glossary = 'docs/glossary.md'

export type UnusedWord = {
  /** A word or a phrase in lower case. */
  readonly word: string
  readonly instead: string
  /** Applies only to parts of compound names, such as `isTold`, and not to ordinary text. */
  readonly isInNamesOnly?: boolean
  /** Folders and files in which the word has another meaning. */
  readonly allowedIn: readonly string[]
  /** Phrases in which the word is correct everywhere, such as terms of a standard. */
  readonly allowedPhrases?: readonly string[]
}

const namesOnly = ' (in names)'

/** Reads the last table of the glossary. Throws if there is none. */
export function parseUnusedWords(page: string): UnusedWord[] {
  const [, table] = page.split('## Words that are not used')
  const rows = (table ?? '').split('\n').filter((line) => line.startsWith('|'))
  const words = rows.slice(2).map((row) => {
    const [, name = '', instead = '', allowed = '', phrases = ''] = row.split('|').map((cell) => cell.trim())
    const isInNamesOnly = name.endsWith(namesOnly)
    const word = isInNamesOnly ? name.slice(0, -namesOnly.length) : name
    return { word, instead, isInNamesOnly, allowedIn: readCode(allowed), allowedPhrases: readCode(phrases) }
  })
  if (words.length === 0) throw new Error(`${glossary} has no table of words that are not used`)
  return words
}

/** One line per use. */
export function findUnusedWords(path: string, text: string, words: readonly UnusedWord[]): string[] {
  const found: { readonly line: number; readonly message: string }[] = []
  for (const { word, instead, isInNamesOnly = false, allowedIn, allowedPhrases = [] } of words) {
    if (allowedIn.some((each) => path === each || path.startsWith(`${each}/`))) continue
    // A fast search first, because few files contain any of the words.
    const stem = word.endsWith('y') ? word.slice(0, -1) : word.split(' ')[0]!
    if (!path.toLowerCase().includes(stem) && !text.toLowerCase().includes(stem)) continue
    const lines = [path, ...removePhrases(text, allowedPhrases).split('\n')]
    for (const [line, content] of lines.entries()) {
      if (uses(content, word, isInNamesOnly))
        found.push({ line, message: `${path}:${line}: "${word}" is not used; use ${instead} (${glossary})` })
    }
  }
  return found.toSorted((one, other) => one.line - other.line).map(({ message }) => message)
}

function uses(line: string, word: string, isInNamesOnly: boolean): boolean {
  if (word.includes(' ')) return ` ${splitWords(line).join(' ')} `.includes(` ${word} `)
  const parts = isInNamesOnly
    ? Array.from(line.matchAll(/\w+/g), ([name]) => splitWords(name)).flatMap((each) => (each.length > 1 ? each : []))
    : splitWords(line)
  return parts.includes(word) || parts.includes(toPlural(word))
}

/** Phrases may continue on the next line, also of a comment. Lines keep their numbers. */
function removePhrases(text: string, phrases: readonly string[]): string {
  return phrases.reduce((rest, phrase) => {
    const words = phrase.split(' ').map((word) => word.replace(/[^\w]/g, '\\$&'))
    const pattern = new RegExp(`(?<![a-z])${words.join('[\\s*/|>]+')}(?![a-z])`, 'gi')
    return rest.replace(pattern, (found) => found.replace(/[^\n]+/g, ' '))
  }, text)
}

/** Words in lower case; those of identifiers are separated. */
function splitWords(line: string): string[] {
  return line
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word !== '')
}

function toPlural(word: string): string {
  return word.endsWith('y') ? `${word.slice(0, -1)}ies` : `${word}s`
}

function readCode(cell: string): string[] {
  return Array.from(cell.matchAll(/`([^`]+)`/g), ([, code]) => code!)
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

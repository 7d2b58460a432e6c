import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { findUnusedWords, parseUnusedWords } from './check-words.ts'

const words = [
  { word: 'desk', instead: 'service', allowedIn: [] },
  { word: 'oddity', instead: 'quirk', allowedIn: ['test', 'docs/a.md'] },
]

test('a word is found in identifiers, texts, comments and file names, in the plural too', () => {
  const found = (path: string, text: string) => findUnusedWords(path, text, words).map((line) => line.split(' ')[0])
  assert.deepEqual(found('a.ts', 'const x = 1\nclass GuestDesk {}\nconst deskOf = guest_desk\n// Desks.'), [
    'a.ts:2:',
    'a.ts:3:',
    'a.ts:4:',
  ])
  assert.deepEqual(found('desk/a.ts', ''), ['desk/a.ts:0:'])
  assert.deepEqual(found('a.ts', "'oddities'"), ['a.ts:1:'])
})

test('longer words and allowed files pass', () => {
  assert.deepEqual(findUnusedWords('a.ts', 'a desktop, deskside', words), [])
  for (const path of ['test/b.ts', 'docs/a.md']) assert.deepEqual(findUnusedWords(path, 'oddity', words), [])
  assert.equal(findUnusedWords('tests/b.ts', 'oddity', words).length, 1)
})

test('the table of the glossary is read', () => {
  const listed = parseUnusedWords(readFileSync('docs/glossary.md', 'utf8'))
  assert.ok(listed.length > 5)
  assert.deepEqual(
    listed.find(({ word }) => word === 'teller'),
    { word: 'teller', instead: 'reporter', allowedIn: ['scripts/check-words.test.ts'] },
  )
  assert.throws(() => parseUnusedWords('# Glossary'), /no table/)
})

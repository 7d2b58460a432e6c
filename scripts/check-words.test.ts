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

test('terms in allowed phrases pass, also across lines, while lines keep their numbers', () => {
  const picture = [
    { word: 'picture', instead: 'frame', allowedIn: [], allowedPhrases: ['group of pictures', 'lost_pictures'] },
  ]
  const text = 'const lost_pictures = 1\n// A group of\n// pictures\n// is not a picture.'
  assert.deepEqual(findUnusedWords('a.ts', text, picture), [
    'a.ts:4: "picture" is not used; use frame (docs/glossary.md)',
  ])
  assert.equal(findUnusedWords('a.ts', 'lost_picturesque = picture', picture).length, 1)
})

test('phrases are found, and words of names only in compound names', () => {
  const rows = [
    { word: 'media address', instead: 'media URL', allowedIn: [] },
    { word: 'told', instead: 'reported', isInNamesOnly: true, allowedIn: [] },
  ]
  const text = '// The media address\nconst mediaAddress = 1\n// They were told.\nlet isTold'
  const lines = findUnusedWords('a.ts', text, rows).map((line) => line.split(': ')[0])
  assert.deepEqual(lines, ['a.ts:1', 'a.ts:2', 'a.ts:4'])
})

test('the table of the glossary is read', () => {
  const listed = parseUnusedWords(readFileSync('docs/glossary.md', 'utf8'))
  assert.ok(listed.length > 5)
  assert.deepEqual(
    listed.find(({ word }) => word === 'teller'),
    {
      ...{ word: 'teller', instead: 'reporter', isInNamesOnly: false },
      ...{ allowedIn: ['scripts/check-words.test.ts'], allowedPhrases: [] },
    },
  )
  assert.ok(listed.find(({ word }) => word === 'picture')?.allowedPhrases?.includes('group of pictures'))
  assert.throws(() => parseUnusedWords('# Glossary'), /no table/)
})

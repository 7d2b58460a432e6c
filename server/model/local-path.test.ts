import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isLocalPath } from './local-path.ts'

test('T29: what leads elsewhere is no local path', () => {
  const elsewhere = [
    '//e',
    '/\\e',
    'https:e',
    'https://e/',
    '%2f%2fe',
    '\\\\e',
    '/\t/e',
    '/\n/e',
    ' /a',
    '',
    'a',
    '/a\\b',
  ]
  for (const text of [...elsewhere, '/\u00a0/e', '/a\0', `/${'a'.repeat(12_288)}`]) {
    assert.equal(isLocalPath(text), false, JSON.stringify(text))
  }
  for (const text of ['/', '/account/', '/oauth/authorize/?state=a%20b&next=//x', '/%2f%2fe', '/a//b']) {
    assert.equal(isLocalPath(text), true, text)
  }
})

test('T29: a browser resolves every local path on this server', () => {
  const nasty = fc.string({ unit: fc.constantFrom('/', '\\', '.', ':', '@', '?', '#', '\t', '\n', '%2f', 'e', '&') })
  fc.assert(
    fc.property(nasty, (text) => {
      if (isLocalPath(text)) assert.equal(new URL(text, 'https://here.example/a/').host, 'here.example')
    }),
    { numRuns: 2000 },
  )
})

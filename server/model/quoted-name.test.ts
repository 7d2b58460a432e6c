import assert from 'node:assert/strict'
import { test } from 'node:test'
import { quoteName } from './quoted-name.ts'

test('a name is quoted on one line, and cannot end its quotation', () => {
  assert.equal(quoteName('Front door 2.1'), '“Front door 2.1”')
  assert.equal(quoteName('Haustür, links ☂'), '“Haustür, links ☂”')
  assert.equal(quoteName('a” "b"'), '“a’ ’b’”')
  assert.equal(quoteName('a“ „b', ['„', '“']), '„a’ ’b“')
  assert.equal(quoteName('😀'.repeat(101)), `“${'😀'.repeat(99)}…”`)
})

test('a name that would be more than a name is not repeated', () => {
  for (const name of [
    'see http://evil.example',
    'HTTPS://x',
    'www.evil',
    'go to evil.example now',
    'mail me@evil',
    'a\r\nBcc: b',
    'abc\u202edef',
    'a\u2028b',
    '  ',
  ]) {
    assert.equal(quoteName(name), undefined, JSON.stringify(name))
  }
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emailKey, parseEmail } from './email.ts'

test('addresses are taken as typed and compared without regard to case', () => {
  assert.equal(parseEmail(' Ada.Byron+cam@Example.org '), 'Ada.Byron+cam@Example.org')
  assert.equal(parseEmail('ada@localhost'), 'ada@localhost')
  assert.equal(emailKey('Ada@Example.org '), 'ada@example.org')
})

test('what cannot be an address is refused', () => {
  const cases = [
    '',
    'ada',
    '@x',
    'ada@',
    'a@b@c',
    'a b@c',
    'a@b\r\nBcc: c@d',
    'a,b@c',
    '<a@b>',
    `${'x'.repeat(250)}@x.org`,
  ]
  for (const text of cases) assert.throws(() => parseEmail(text), { kind: 'invalid' }, text)
})

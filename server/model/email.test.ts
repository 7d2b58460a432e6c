import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emailKey, parseEmail } from './email.ts'

test('addresses are taken as typed and compared without regard to case', () => {
  assert.equal(parseEmail(' Ada.Byron+cam@Example.org '), 'Ada.Byron+cam@Example.org')
  assert.equal(parseEmail('ada@localhost'), 'ada@localhost')
  for (const email of ["o'brien@bücher.example", 'jörg+1@x-1.org', 'ada@उदाहरण.परीक्षा', 'a/b@x']) {
    assert.equal(parseEmail(email), email)
  }
  assert.equal(emailKey('Ada@Example.org '), 'ada@example.org')
})

test('a domain is the same in its own script and as the name system knows it', () => {
  const cases = [
    ['Ada@BÜCHER.example', 'ada@xn--bcher-kva.example'],
    ['ada@bu\u0308cher.example', 'ada@xn--bcher-kva.example'],
    ['ada@例え.テスト', 'ada@xn--r8jz45g.xn--zckzah'],
    ['ada@उदाहरण.परीक्षा', 'ada@xn--p1b6ci4b4b3a.xn--11b5bs3a9aj6g'],
    ['ADA@xn--bcher-kva.EXAMPLE', 'ada@xn--bcher-kva.example'],
    ['j\u006f\u0308rg@x.org', 'j\u00f6rg@x.org'],
    // Not domains; left unchanged.
    ['ada@bü/cher', 'ada@bü/cher'],
    ['ada@bü%63her', 'ada@bü%63her'],
    ['bücher', 'bücher'],
  ] as const
  for (const [email, key] of cases) assert.equal(emailKey(email), key, email)
})

test('what cannot be an address is refused', () => {
  const cases = [
    '',
    'ada',
    '@x',
    'ada@',
    'a@b@c',
    'a..b@c',
    '.a@b',
    'a.@b',
    'a@b..c',
    'a@b.',
    'a@-b',
    'a@b-',
    'a@b_c',
    'a@b/c',
    'ada@例え。テスト',
    'a b@c',
    'a@b\r\nBcc: c@d',
    'a\r@b',
    'a@b\nc',
    'a,b@c',
    '<a@b>',
    '"a"@b',
    'a\\@b',
    'a@[127.0.0.1]',
    'a\0@b',
    'a@b\u202ec',
    'a\u200b@b',
    'a@b\u2028c',
    '\ud800@b',
    `${'x'.repeat(250)}@x.org`,
  ]
  for (const text of cases) assert.throws(() => parseEmail(text), { kind: 'invalid' }, JSON.stringify(text))
})

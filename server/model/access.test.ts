import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accountScope, allScopes, covers, expandScopes, parseScopes } from './access.ts'

const reading = { all: ['read'], or: 'recording_access' }
const changing = { all: ['read', 'write'], or: 'camera_guest_manage' }
const own = { all: ['read'] }

test('what each scope covers', () => {
  const cases: [string, boolean, boolean, boolean][] = [
    ['user_access', true, true, true],
    ['read', true, false, true],
    ['write', false, false, false],
    ['read write', true, true, true],
    ['recording_access', true, false, false],
    ['camera_access', false, false, false],
    ['camera_guest_manage', false, true, false],
    ['camera_guest_manage write', false, true, false],
  ]
  for (const [text, mayRead, mayChange, mayReadOwn] of cases) {
    const scopes = expandScopes(parseScopes(text))
    assert.deepEqual(
      [covers(scopes, reading), covers(scopes, changing), covers(scopes, own)],
      [mayRead, mayChange, mayReadOwn],
      text,
    )
  }
  assert.deepEqual([...expandScopes(['user_access']), accountScope].sort(), [...allScopes].sort())
})

test('accounts are covered by no other scope', () => {
  const others = allScopes.filter((scope) => scope !== accountScope)
  assert.equal(expandScopes(others).has(accountScope), false)
  assert.deepEqual(expandScopes([accountScope]), new Set([accountScope]))
})

test('scopes are read from text', () => {
  assert.deepEqual(parseScopes(' read  write read'), ['read', 'write'])
  for (const text of ['', '  ', 'read everything', 'Read', 'read\twrite']) {
    assert.throws(() => parseScopes(text), { kind: 'invalid' }, text)
  }
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allScopes } from '../access.ts'
import { chooseScopes, narrowScopes } from './scope.ts'
import { describeScopes } from './scope-descriptions.ts'

test('what is asked for, in its order, if it is allowed', () => {
  const cases: [string | undefined, string, string | undefined][] = [
    ['read write', 'user_access', 'read write'],
    [' write  read write', 'user_access', 'write read'],
    ['user_access', 'user_access', 'user_access'],
    ['user_access', 'read write', 'user_access'],
    ['user_access', 'read', undefined],
    ['event_access', 'read', 'event_access'],
    ['event_manage', 'read', undefined],
    ['write', 'read', undefined],
    ['write', 'write', 'write'],
    ['nonsense', 'user_access', undefined],
    ['read nonsense', 'user_access', undefined],
    ['__proto__', 'user_access', undefined],
    [undefined, 'user_access', 'read write'],
    ['', 'read', 'read'],
    ['  ', 'event_access camera_access', 'event_access camera_access'],
    ['account_manage', 'user_access', undefined],
    ['account_manage', 'read write', undefined],
    ['read account_manage', 'user_access account_manage', 'read account_manage'],
    [undefined, 'user_access account_manage', 'read write'],
    [undefined, 'event_access account_manage', 'event_access'],
    [undefined, 'account_manage', undefined],
  ]
  for (const [asked, allowed, expected] of cases) {
    const choose = () => chooseScopes(asked, allowed.split(' ')).join(' ')
    if (expected === undefined) assert.throws(choose, { code: 'invalid_scope' }, `${asked} of ${allowed}`)
    else assert.equal(choose(), expected, `${asked} of ${allowed}`)
  }
})

test('a refresh may ask for less, never for more', () => {
  assert.deepEqual(narrowScopes(undefined, ['user_access']), ['user_access'])
  assert.deepEqual(narrowScopes('read', ['user_access']), ['read'])
  assert.deepEqual(narrowScopes('read', ['read', 'write']), ['read'])
  assert.throws(() => narrowScopes('write', ['read']), { code: 'invalid_scope' })
  assert.throws(() => narrowScopes('account_manage', ['user_access']), { code: 'invalid_scope' })
})

test('every scope has a description', () => {
  for (const { name, description } of describeScopes(allScopes)) assert.notEqual(description, name)
})

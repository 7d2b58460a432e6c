import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createUnmatchableHash, hashPassword, isPasswordHash, needsRehash, verifyPassword } from './password.ts'

test('a password matches its hash, however its characters are composed', async () => {
  const hash = await hashPassword('pässword-1')
  assert.match(hash, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  assert.equal(await verifyPassword(hash, 'pa\u0308ssword-1'), true)
  assert.equal(await verifyPassword(hash, 'password-1'), false)
  assert.equal(await verifyPassword(hash, 'x'.repeat(100_000)), false)
  assert.notEqual(await hashPassword('pässword-1'), hash)
  assert.equal(needsRehash(hash), false)
  assert.equal(needsRehash(hash.replace('t=2', 't=1')), true)
})

test('a password must have 8 to 256 characters', async () => {
  for (const password of ['', '1234567', 'x'.repeat(257)]) {
    await assert.rejects(hashPassword(password), { kind: 'invalid' })
  }
  await hashPassword(`${'tz4-kk09qx'}${'😀'.repeat(246)}`)
})

test('the hash that no password matches has the usual format', async () => {
  const hash = createUnmatchableHash()
  assert.equal(await verifyPassword(hash, 'password-1'), false)
  assert.deepEqual([isPasswordHash(hash), needsRehash(hash)], [true, false])
  assert.notEqual(createUnmatchableHash(), hash)
  for (const text of ['', '!']) assert.equal(isPasswordHash(text), false)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  checkPassword,
  createUnmatchableHash,
  hashPassword,
  isPasswordHash,
  needsRehash,
  ratePassword,
  verifyPassword,
} from './password.ts'

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

test('words of both languages with a year or a sign are refused, and passphrases of two words are not', async () => {
  for (const common of [
    ...['Passwort123!', 'Sommer2024!', 'Summer2024!', '!Sommer2024', 'Fussball1990', 'Fußball1990', 'Frühling2025!'],
    ...['Liebling77', 'Weihnachten2023', 'Welcome2024!', 'Kamera2024!', 'Nightjar2026', 'qwertz123456', '!!!!!!!!'],
  ])
    await assert.rejects(checkPassword(common), { kind: 'invalid' }, common)
  for (const good of ['correct horse', 'evening horses', 'blaue Tasse', 'x7kq2m9p', 'tz4-kk09qx'])
    await checkPassword(good)
})

test('the strength of a password grows with the guesses it takes, and is 0 if it is refused', async () => {
  const rated = ['Sommer2024!', 'short', 'x7kq2m9p', 'Kaktus-Regen-81', 'vier nasse Fässer unter Linden']
  assert.deepEqual(await Promise.all(rated.map((password) => ratePassword(password))), [0, 0, 1, 2, 3])
  assert.equal(await ratePassword('ada.lind@example.org', ['ada.lind@example.org']), 0)
})

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { hashToken } from './checked-token.ts'
import {
  checkTokenValue,
  createPersonalToken,
  describePersonalToken,
  isChecksumValid,
  looksPersonal,
} from './personal-token.ts'

test('a token is unique, has 40 characters and a valid checksum', () => {
  const tokens = Array.from({ length: 200 }, () => createPersonalToken(randomBytes))
  assert.equal(new Set(tokens).size, 200)
  for (const token of tokens) {
    assert.match(token, /^njp_[0-9A-Za-z]{36}$/)
    assert.ok(isChecksumValid(token))
  }
})

test('the checksum is the CRC-32 of what precedes it, in base62', () => {
  const token = createPersonalToken((count) => new Uint8Array(count))
  assert.equal(token, `njp_${'0'.repeat(30)}${base62(0x9b037730)}`)
  function base62(value: number): string {
    const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
    return value === 0 ? '' : base62(Math.floor(value / 62)) + digits[value % 62]
  }
})

test('bytes that would make some digits more likely are skipped', () => {
  const bytes = [255, 248, 247, 61, 0]
  const token = createPersonalToken(() => Uint8Array.from(bytes))
  assert.equal(token.slice(4, 34), 'zz0'.repeat(10))
})

test('a single mistyped character is detected', () => {
  const token = createPersonalToken(randomBytes)
  for (let i = 4; i < token.length; i++) {
    const mistyped = token.slice(0, i) + (token[i] === 'a' ? 'b' : 'a') + token.slice(i + 1)
    assert.ok(looksPersonal(mistyped) && !isChecksumValid(mistyped), mistyped)
  }
  assert.ok(!looksPersonal(token.slice(1)))
})

test('imported values can have any printable form of 20 to 256 characters', () => {
  for (const value of ['0123456789abcdef0123', 'x'.repeat(256), '~!@#$%^&*()_+-={}[]|;:']) checkTokenValue(value)
  for (const value of ['x'.repeat(19), 'x'.repeat(257), 'with a space in the middle', 'ünïcödé'.repeat(4)]) {
    assert.throws(() => checkTokenValue(value), { kind: 'invalid' })
  }
  const foreign = '0123456789abcdef0123456789abcdef01234567'
  assert.deepEqual(describePersonalToken(foreign), {
    hash: createHash('sha256').update(foreign).digest(),
    prefix: '',
    lastFour: '4567',
    isChecksumValid: true,
  })
  assert.equal(describePersonalToken(`njp_${'0'.repeat(36)}`).isChecksumValid, false)
  assert.equal(hashToken(foreign).length, 32)
})

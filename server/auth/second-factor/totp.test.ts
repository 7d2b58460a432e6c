import assert from 'node:assert/strict'
import { test } from 'node:test'
import { computeHotp, findDrift, findStep, stepAt, writeBase32, writeKeyUri } from './totp.ts'

const secret = Buffer.from('12345678901234567890')

test('the vectors of RFC 4226, appendix D', () => {
  const values = '755224 287082 359152 969429 338314 254676 287922 162583 399871 520489'.split(' ')
  assert.deepEqual(
    values.map((_, counter) => computeHotp(secret, counter)),
    values,
  )
})

test('the vectors of RFC 6238, appendix B, for SHA-1', () => {
  const vectors: [seconds: number, code: string][] = [
    [59, '94287082'],
    [1111111109, '07081804'],
    [1111111111, '14050471'],
    [1234567890, '89005924'],
    [2000000000, '69279037'],
    [20000000000, '65353130'],
  ]
  for (const [seconds, code] of vectors) assert.equal(computeHotp(secret, stepAt(seconds * 1000), 8), code)
})

test('a code is valid one step earlier and later, but not two', () => {
  const nowMs = 1_700_000_010_000
  const step = stepAt(nowMs)
  const code = computeHotp(secret, step)
  for (const [shift, expected] of [
    [-60_000, undefined],
    [-30_000, step],
    [0, step],
    [30_000, step],
    [60_000, undefined],
  ] as const) {
    assert.equal(findStep(secret, code, nowMs + shift), expected, String(shift))
  }
  for (const wrong of ['', code.slice(1), `${code}0`, '٠١٢٣٤٥', 'abcdef'])
    assert.equal(findStep(secret, wrong, nowMs), undefined)
})

test('the vectors of RFC 4648, section 10, without padding', () => {
  const vectors = {
    '': '',
    f: 'MY',
    fo: 'MZXQ',
    foo: 'MZXW6',
    foob: 'MZXW6YQ',
    fooba: 'MZXW6YTB',
    foobar: 'MZXW6YTBOI',
  }
  for (const [text, base32] of Object.entries(vectors)) assert.equal(writeBase32(Buffer.from(text)), base32)
})

test('a code that is right at another time tells how far the clocks differ', () => {
  const nowMs = 1_000_000_000_000
  for (const seconds of [-600, -90, 60, 600])
    assert.equal(findDrift(secret, computeHotp(secret, stepAt(nowMs + seconds * 1000)), nowMs), seconds)
  assert.equal(findDrift(secret, computeHotp(secret, stepAt(nowMs + 900_000)), nowMs), undefined)
  assert.equal(findDrift(secret, 'x', nowMs), undefined)
})

test('an issuer that is an IPv6 address has no colons', () => {
  const uri = new URL(writeKeyUri({ secret, account: 'a@x', issuer: 'Nightjar fd00::1 8443' }))
  assert.equal(decodeURIComponent(uri.pathname), '/Nightjar fd00--1 8443:a@x')
})

test('the key URI escapes special characters in the account', () => {
  const uri = new URL(writeKeyUri({ secret, account: 'a&b=c?@x', issuer: 'Nightjar host 8443' }))
  assert.equal(uri.protocol, 'otpauth:')
  assert.equal(decodeURIComponent(uri.pathname), '/Nightjar host 8443:a&b=c?@x')
  assert.deepEqual(
    [...uri.searchParams],
    [
      ['secret', 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'],
      ['issuer', 'Nightjar host 8443'],
    ],
  )
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Clock, systemClock } from '../base/clock.ts'
import { type MediaGrant, MediaTokens, mediaTokenSlotMs, mediaTokenTtlMs } from './media-token.ts'

const startMs = Date.UTC(2030, 0, 1, 12, 3, 7)
const key = new Uint8Array(32).fill(9)

function createClock(): Clock & { now: number } {
  return { ...systemClock, now: startMs, nowMs() { return this.now } } // biome-ignore format: one line
}

const grant: MediaGrant = {
  kind: 'mjpeg',
  cameraId: 7,
  userId: 3,
  credential: { kind: 'personal', id: 12 },
  view: { refreshRate: 0.1, maxWidth: 640 },
}

test('verifying a token returns the signed values', () => {
  const clock = createClock()
  const tokens = new MediaTokens(key, clock)
  const id = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })
  const size = fc.option(fc.integer({ min: 1, max: 100_000 }), { nil: undefined })
  fc.assert(
    fc.property(id, id, id, size, size, (cameraId, userId, credentialId, maxWidth, maxHeight) => {
      const view = { ...(maxWidth && { maxWidth }), ...(maxHeight && { maxHeight }) }
      const credential = { kind: credentialId % 2 ? 'grant' : 'personal', id: credentialId } as const
      const given: MediaGrant = { kind: 'hls', cameraId, userId, credential, view }
      const token = tokens.sign(given)
      assert.match(token, /^[\w-]{30,120}$/)
      assert.deepEqual(tokens.verify(token, given), { ...given, expiresAtMs: tokens.nextExpiryMs() })
    }),
  )
  assert.ok(tokens.sign(grant).length <= 60)
})

test('T39: a token with any bit flipped is rejected', () => {
  const tokens = new MediaTokens(key, createClock())
  const token = tokens.sign(grant)
  const bytes = Buffer.from(token, 'base64url')
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const altered = Buffer.from(bytes)
    altered[bit >> 3]! ^= 1 << (bit & 7)
    assert.throws(() => tokens.verify(altered.toString('base64url'), grant), { kind: 'forbidden' }, `bit ${bit}`)
  }
  // Repeats this with the text in the URL, because base64 has unused bits.
  for (let i = 0; i < token.length; i++) {
    for (let bit = 0; bit < 7; bit++) {
      const altered = token.slice(0, i) + String.fromCharCode(token.charCodeAt(i) ^ (1 << bit)) + token.slice(i + 1)
      assert.throws(() => tokens.verify(altered, grant), { kind: 'forbidden' }, `bit ${bit} of character ${i}`)
    }
  }
  for (const altered of ['', token.slice(0, -1), `${token}A`, `${token}=`, token.repeat(20), 'AQEB']) {
    assert.throws(() => tokens.verify(altered, grant), { kind: 'forbidden' }, altered)
  }
})

test('T39: a token is rejected for another camera, kind or key, and other parameters produce another token', () => {
  const clock = createClock()
  const tokens = new MediaTokens(key, clock)
  const token = tokens.sign(grant)
  assert.throws(() => tokens.verify(token, { kind: 'mjpeg', cameraId: 8 }), { kind: 'forbidden' })
  assert.throws(() => tokens.verify(token, { kind: 'live_snapshot', cameraId: 7 }), { kind: 'forbidden' })
  assert.throws(() => new MediaTokens(new Uint8Array(32), clock).verify(token, grant), { kind: 'forbidden' })
  for (const view of [
    {},
    { refreshRate: 0.2, maxWidth: 640 },
    { refreshRate: 0.1, maxWidth: 641 },
    { maxHeight: 640 },
  ]) {
    const other = tokens.sign({ ...grant, view })
    const body = Buffer.from(other, 'base64url').subarray(0, -16)
    const spliced = Buffer.concat([body, Buffer.from(token, 'base64url').subarray(-16)]).toString('base64url')
    assert.throws(() => tokens.verify(spliced, grant), { kind: 'forbidden' })
  }
})

test('T39: a token is valid for two hours and up to ten minutes, and stays the same for ten minutes', () => {
  const clock = createClock()
  const tokens = new MediaTokens(key, clock)
  const token = tokens.sign(grant)
  const { expiresAtMs } = tokens.verify(token, grant)
  assert.ok(expiresAtMs >= startMs + mediaTokenTtlMs && expiresAtMs < startMs + mediaTokenTtlMs + mediaTokenSlotMs)
  clock.now += 60_000
  assert.equal(tokens.sign(grant), token)
  clock.now += mediaTokenSlotMs
  assert.notEqual(tokens.sign(grant), token)
  clock.now = expiresAtMs - 1
  tokens.verify(token, grant)
  clock.now = expiresAtMs
  assert.throws(() => tokens.verify(token, grant), { kind: 'forbidden', message: /expired/ })
})

import assert from 'node:assert/strict'
import { randomBytes, randomInt } from 'node:crypto'
import { test } from 'node:test'
import { SealedBox } from './sealed-box.ts'

const refused = { kind: 'corrupt' }

test('a sealed value unseals only unaltered, in its own context and with its own key', () => {
  const box = new SealedBox(new Uint8Array(32).fill(1))
  const sealed = box.seal('pässword', 'camera 7')
  assert.equal(box.unseal(sealed, 'camera 7'), 'pässword')
  assert.notDeepEqual(box.seal('pässword', 'camera 7'), sealed)
  assert.throws(() => box.unseal(sealed, 'camera 8'), refused)
  assert.throws(() => new SealedBox(new Uint8Array(32)).unseal(sealed, 'camera 7'), refused)
  for (let bit = 0; bit < sealed.length * 8; bit++) {
    const altered = Uint8Array.from(sealed)
    altered[bit >> 3]! ^= 1 << (bit & 7)
    assert.throws(() => box.unseal(altered, 'camera 7'), refused)
  }
  for (let length = 0; length < sealed.length; length++) {
    assert.throws(() => box.unseal(sealed.subarray(0, length), 'camera 7'), refused)
  }
  assert.throws(() => box.unseal(Buffer.concat([sealed, Uint8Array.of(0)]), 'camera 7'), refused)
})

test('any content of any length comes back as it was', () => {
  const box = new SealedBox(randomBytes(32))
  for (let round = 0; round < 200; round++) {
    const content = randomBytes(round < 50 ? round : randomInt(5000))
    const context = randomBytes(randomInt(40)).toString('latin1')
    assert.deepEqual(box.unsealBytes(box.seal(content, context), context), content)
  }
  assert.equal(box.unseal(box.seal('', ''), ''), '')
})

test('a key of another length is refused', () => {
  assert.throws(() => new SealedBox(new Uint8Array(16)).seal('secret', ''))
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SealedBox } from './sealed-box.ts'

test('opens only unaltered, in its own context and with its own key', () => {
  const box = new SealedBox(new Uint8Array(32).fill(1))
  const sealed = box.seal('pässword', 'camera 7')
  assert.equal(box.open(sealed, 'camera 7'), 'pässword')
  assert.notDeepEqual(box.seal('pässword', 'camera 7'), sealed)
  const refused = { kind: 'corrupt' }
  assert.throws(() => box.open(sealed, 'camera 8'), refused)
  assert.throws(() => new SealedBox(new Uint8Array(32)).open(sealed, 'camera 7'), refused)
  for (let bit = 0; bit < sealed.length * 8; bit++) {
    const altered = Uint8Array.from(sealed)
    altered[bit >> 3]! ^= 1 << (bit & 7)
    assert.throws(() => box.open(altered, 'camera 7'), refused)
  }
  assert.throws(() => box.open(sealed.subarray(0, 20), 'camera 7'), refused)
})

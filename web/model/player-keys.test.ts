import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fasterThan, findCommand, keyGroups, rates, slowerThan } from './player-keys.ts'

const none = { shiftKey: false, ctrlKey: false, altKey: false, metaKey: false }
const names: Readonly<Record<string, string>> = { Space: ' ', '←': 'ArrowLeft', '→': 'ArrowRight', '−': '-' }

test('every key that the help shows does what the help says', () => {
  for (const [command, keys] of Object.values(keyGroups).flat()) {
    for (const shown of keys) {
      const shiftKey = shown.startsWith('Shift ')
      const key = shown.replace('Shift ', '')
      assert.equal(findCommand({ ...none, shiftKey, key: names[key] ?? key }), command, shown)
    }
  }
})

test('keys of the browser stay the browser’s, capitals are letters', () => {
  assert.equal(findCommand({ ...none, ctrlKey: true, key: 's' }), undefined)
  assert.equal(findCommand({ ...none, metaKey: true, key: 'ArrowLeft' }), undefined)
  assert.equal(findCommand({ ...none, key: 'Tab' }), undefined)
  assert.equal(findCommand({ ...none, shiftKey: true, key: 'k' }), undefined)
  // With Caps Lock.
  assert.equal(findCommand({ ...none, key: 'K' }), 'toggle')
  // Where the question mark needs Shift, and where it does not.
  assert.equal(findCommand({ ...none, shiftKey: true, key: '?' }), 'help')
})

test('speeds go up and down by steps and end at the ends', () => {
  for (const [index, rate] of rates.entries()) {
    assert.equal(fasterThan(rate), rates[index + 1] ?? 16)
    assert.equal(slowerThan(rate), rates[index - 1] ?? 0.5)
  }
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fasterThan, findCommand, keyGroups, rates, slowerThan } from './player-keys.ts'

const none = { shiftKey: false, ctrlKey: false, altKey: false, metaKey: false }
const names: Readonly<Record<string, string>> = { Space: ' ', '←': 'ArrowLeft', '→': 'ArrowRight', '−': '-' }

test('every shortcut in the help does what the help says', () => {
  for (const [command, keys] of Object.values(keyGroups).flat()) {
    for (const shown of keys) {
      const shiftKey = shown.startsWith('Shift ')
      const key = shown.replace('Shift ', '')
      assert.equal(findCommand({ ...none, shiftKey, key: names[key] ?? key }), command, shown)
    }
  }
})

test('browser shortcuts are left alone, and capital letters count as letters', () => {
  assert.equal(findCommand({ ...none, ctrlKey: true, key: 's' }), undefined)
  assert.equal(findCommand({ ...none, metaKey: true, key: 'ArrowLeft' }), undefined)
  assert.equal(findCommand({ ...none, key: 'Tab' }), undefined)
  assert.equal(findCommand({ ...none, shiftKey: true, key: 'k' }), undefined)
  // With Caps Lock.
  assert.equal(findCommand({ ...none, key: 'K' }), 'toggle')
  // Where the question mark needs Shift, and where it does not.
  assert.equal(findCommand({ ...none, shiftKey: true, key: '?' }), 'help')
})

test('speed changes in steps and stops at both ends', () => {
  for (const [index, rate] of rates.entries()) {
    assert.equal(fasterThan(rate), rates[index + 1] ?? 16)
    assert.equal(slowerThan(rate), rates[index - 1] ?? 0.5)
  }
})

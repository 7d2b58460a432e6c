import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AppError } from '../../base/error.ts'
import { parseAppName } from './app-name.ts'

test('a name is what is seen, without white space around it', () => {
  for (const name of ['a', 'Bell & Söhne', '門鈴', 'Home ❤️', '🔔'.repeat(100)]) assert.equal(parseAppName(name), name)
  assert.equal(parseAppName('  Bell  '), 'Bell')
})

test('blank, long and deceiving names are refused', () => {
  const deceiving = [
    'a\nb',
    'a\u0000',
    'a\u202eb',
    'a\u200bb',
    'a\ufeffb',
    'a\u00adb',
    'a\ue000',
    'a\ud800',
    'a\u2028b',
  ]
  for (const name of ['', ' ', '\u3000', '\u3164', '\u2800', '\u115f', 'x'.repeat(101), ...deceiving]) {
    assert.throws(
      () => parseAppName(name),
      ({ kind, fields }: AppError) => kind === 'invalid' && Object.keys(fields!).join() === 'name',
      JSON.stringify(name),
    )
  }
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isFound } from './search.ts'

test('search finds words anywhere in a name, in any order, ignoring case and accents', () => {
  const name = 'Küche, Tür zum Hof'
  for (const text of ['', ' ', 'küche', 'KUCHE', 'hof tur', 'ku\u0308che', ' Hof '])
    assert.ok(isFound(name, text), text)
  for (const text of ['keller', 'hof keller', 'küchenhof']) assert.ok(!isFound(name, text), text)
})

test('search works for other scripts', () => {
  assert.ok(isFound('كاميرا المدخل', 'مدخل'))
  assert.ok(isFound('倉庫の入口カメラ', '入口'))
  assert.ok(isFound('🚪 Katzenklappe', '🚪'))
})

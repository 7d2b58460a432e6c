import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { createTypedCode, parseTypedCode, readTyped } from './typed-code.ts'

test('codes are read however keyboards, apps and people write them', () => {
  for (const typed of [
    '123456',
    ' 123 456\n',
    '123\u00a0456',
    '123-456',
    '123\u2013456',
    '123\u2212456',
    '\u200f123456\u200e',
    '\u202b123456\u202c',
    '١٢٣٤٥٦',
    '۱۲۳۴۵۶',
    '१२३४५६',
    '১২৩৪৫৬',
    '１２３４５６',
    '𝟏𝟐𝟑𝟜𝟝𝟞',
    '123\u066c456',
    '123_456',
    '123.456',
  ]) {
    assert.equal(readTyped(typed), '123456', JSON.stringify(typed))
  }
  assert.equal(readTyped('०९'), '09')
  for (const other of ['12345x', '½23456', '一二三四五六']) assert.notEqual(readTyped(other), '123456', other)
})

test('a code that was made is read back, in lower case and with letters that look alike', () => {
  const code = createTypedCode(20, randomBytes)
  const plain = code.replaceAll('-', '')
  assert.equal(parseTypedCode(20, code), plain)
  assert.equal(parseTypedCode(20, `\u200f${code.toLowerCase().replaceAll('0', 'o').replaceAll('1', 'l')} `), plain)
  assert.equal(parseTypedCode(20, code.slice(1)), undefined)
  assert.equal(parseTypedCode(3, '12U'), undefined)
})

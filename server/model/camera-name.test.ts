import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AppError } from '../base/error.ts'
import { parseCameraName } from './camera-name.ts'

test('names are trimmed, and of any script', () => {
  for (const name of ['Door', 'a', 'ворота', 'דלת', '門', '👨‍👩‍👧 door', 'x'.repeat(200), '😀'.repeat(200)])
    assert.equal(parseCameraName(`\t ${name} \n`), name)
})

test('blank, too long, or with characters that hide something: refused by name', () => {
  const hidden = ['\0', '\n', '\x1b[31m', '\x7f', '\x85', '\u2028', '\u202a', '\u202e', '\u2066', '\u2069', '\ud800']
  for (const name of ['', ' \t', 'x'.repeat(201), '😀'.repeat(201), ...hidden.map((character) => `a${character}b`)]) {
    assert.throws(
      () => parseCameraName(name),
      (error: AppError) => error.kind === 'invalid' && Array.isArray(error.fields?.name),
      JSON.stringify(name),
    )
  }
})

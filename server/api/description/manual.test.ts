import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { writeManual } from './manual.ts'

test('docs/reference/api.md is what the description says: else node_modules/.bin/node server/api/description/write-manual.ts', () => {
  const page = readFileSync(new URL('../../../docs/reference/api.md', import.meta.url), 'utf8')
  assert.ok(page === writeManual(), 'docs/reference/api.md is not up to date')
})

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { operations } from './generated/operations.ts'

test('every operation of the interface has its place among the resources', () => {
  const folder = new URL('./resources/', import.meta.url)
  const text = globSync('*.ts', { cwd: folder }).map((name) => readFileSync(new URL(name, folder), 'utf8'))
  const called = new Set([...text.join('').matchAll(/\bcall\('(\w+)'/g)].map(([, name]) => name))
  const missing = Object.keys(operations).filter((name) => !called.has(name))
  assert.deepEqual(missing, [], 'add a method for it in sdk/resources')
})

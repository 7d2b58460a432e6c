import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { createClient } from './client.ts'
import { operations } from './generated/operations.ts'

test('every operation of the API has a method in a resource', () => {
  const folder = new URL('./resources/', import.meta.url)
  const text = globSync('*.ts', { cwd: folder }).map((name) => readFileSync(new URL(name, folder), 'utf8'))
  const called = new Set([...text.join('').matchAll(/\bcall\('(\w+)'/g)].map(([, name]) => name))
  const missing = Object.keys(operations).filter((name) => !called.has(name))
  assert.deepEqual(missing, [], 'add a method for it in sdk/resources')
})

test('the README lists every resource and its methods', () => {
  const lines = readFileSync(new URL('README.md', import.meta.url), 'utf8').split('\n')
  const rows = lines.filter((line) => line.startsWith('| `'))
  for (const [name, resource] of Object.entries(createClient({ baseUrl: 'https://cameras.example' }))) {
    const row = rows.find((line) => line.split('|')[1]!.match(/\w+/g)!.includes(name))
    assert.ok(row, name)
    const isListed = (method: string) => row.includes(`\`${method}\``)
    const isSummedUp = row.split('|')[2]!.includes('what an account manages')
    if (!isSummedUp)
      assert.deepEqual(
        Object.keys(resource).filter((method) => !isListed(method)),
        [],
        name,
      )
  }
})

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { writeGenerated } from './sdk-interface.ts'

test('the generated files of the SDK are up to date with the API description', async () => {
  for (const [name, text] of Object.entries(writeGenerated())) {
    const kept = await readFile(new URL(`../sdk/generated/${name}`, import.meta.url), 'utf8')
    assert.equal(kept, text, 'run: node_modules/.bin/node scripts/write-sdk.ts')
  }
})

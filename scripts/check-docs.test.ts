import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findBrokenReferences } from './check-docs.ts'

const exists = (path: string) => ['docs/design/live.md', 'server/live/mjpeg.ts'].includes(path)

test('links and named paths that exist pass, others are reported', () => {
  const page = 'docs/design/index.md'
  assert.deepEqual(findBrokenReferences(page, '[a](live.md#x) `server/live/mjpeg.ts` [b](https://x/y.md)', exists), [])
  assert.deepEqual(findBrokenReferences(page, '[a](gone.md)', exists), [`${page}: link to gone.md`])
  assert.deepEqual(findBrokenReferences(page, 'see `server/gone.ts`', exists), [`${page}: names server/gone.ts`])
  assert.deepEqual(findBrokenReferences(page, '`server/live/*.ts`', exists), [])
})

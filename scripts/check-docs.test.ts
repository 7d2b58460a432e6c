import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findBrokenReferences, findStaleComments } from './check-docs.ts'

const exists = (path: string) => ['docs/design/live.md', 'server/live/mjpeg.ts'].includes(path)

test('links and named paths that exist pass, others are reported', () => {
  const page = 'docs/design/index.md'
  assert.deepEqual(findBrokenReferences(page, '[a](live.md#x) `server/live/mjpeg.ts` [b](https://x/y.md)', exists), [])
  assert.deepEqual(findBrokenReferences(page, '[a](gone.md)', exists), [`${page}: link to gone.md`])
  assert.deepEqual(findBrokenReferences(page, 'see `server/gone.ts`', exists), [`${page}: names server/gone.ts`])
  assert.deepEqual(findBrokenReferences(page, '`server/live/*.ts`', exists), [])
})

test('comments that name a missing source file are reported, code is not read', () => {
  const names = new Set(['clock.ts'])
  const path = 'server/a.ts'
  assert.deepEqual(
    findStaleComments(path, '// See clock.ts.\n/** As model/clock.ts. */\nimport "./gone.ts"', names),
    [],
  )
  assert.deepEqual(findStaleComments(path, '  // See turns.ts.', names), [`${path}: a comment names turns.ts`])
  assert.deepEqual(findStaleComments(path, '/**\n * As in base/gone.ts.\n */', names), [
    `${path}: a comment names gone.ts`,
  ])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findBrokenReferences, findMissingHeadings, findStaleComments, findUnknownMessages } from './check-docs.ts'

const exists = (path: string) => ['docs/design/live.md', 'server/live/mjpeg.ts'].includes(path)

test('links and named paths that exist pass, others are reported', () => {
  const page = 'docs/design/index.md'
  assert.deepEqual(findBrokenReferences(page, '[a](live.md#x) `server/live/mjpeg.ts` [b](https://x/y.md)', exists), [])
  assert.deepEqual(findBrokenReferences(page, '[a](gone.md)', exists), [`${page}: link to gone.md`])
  assert.deepEqual(findBrokenReferences(page, 'see `server/gone.ts`', exists), [`${page}: names server/gone.ts`])
  assert.deepEqual(findBrokenReferences(page, '`server/live/*.ts`', exists), [])
})

test('links to headings that do not exist are reported', () => {
  const linked = '# Live\n\n```sh\n# not a heading\n```\n\n## A `b`, c\n\n## Twice\n\n## Twice\n'
  const read = (path: string) => (path === 'docs/design/live.md' ? linked : undefined)
  const page = 'docs/design/index.md'
  const find = (text: string) => findMissingHeadings(page, text, read)
  assert.deepEqual(find('[a](live.md#a-b-c) [b](live.md#twice-1) [c](gone.md#x) [d](https://x/y.md#z)'), [])
  assert.deepEqual(find('[a](live.md#not-a-heading)'), [`${page}: link to live.md#not-a-heading`])
  assert.deepEqual(find('# Here\n[a](#here) [b](#there)'), [`${page}: link to #there`])
})

test('log messages of the guide that the server does not write are reported', () => {
  const guide = '| `reason` | x |\n\n## By log line\n\n| message | explanation |\n|---|---|\n| `it failed` | x |\n'
  assert.deepEqual(findUnknownMessages(guide, "log.warn({ error }, 'it failed')"), [])
  assert.match(findUnknownMessages(guide, "log.warn({ error }, 'it worked')")[0]!, /does not log "it failed"/)
  assert.match(findUnknownMessages('', '')[0]!, /explains no log messages/)
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

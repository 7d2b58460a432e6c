import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findAffectedTests } from './affected-tests.ts'

const sources = new Map([
  ['server/a.ts', "import { b } from './b.ts'\nconst c = await import('./deep/c.ts')"],
  ['server/b.ts', ''],
  ['server/deep/c.ts', "const child = new URL('./child.ts', import.meta.url)"],
  ['server/deep/child.ts', "import {\n  x,\n} from '../b.ts'"],
  ['server/a.test.ts', "import { a } from './a.ts'"],
  ['server/b.test.ts', "import './b.ts'"],
  ['server/other.test.ts', "import data from '../package.json' with { type: 'json' }"],
])
const tests = ['server/a.test.ts', 'server/b.test.ts', 'server/other.test.ts']

test('tests that import a changed file are affected, over any number of files', () => {
  const affected = (...changed: string[]) => findAffectedTests(tests, changed, sources)
  assert.deepEqual(affected('server/b.ts'), ['server/a.test.ts', 'server/b.test.ts'])
  assert.deepEqual(affected('server/deep/child.ts'), ['server/a.test.ts'])
  assert.deepEqual(affected('server/other.test.ts'), ['server/other.test.ts'])
  assert.deepEqual(affected('README.md'), [])
  assert.deepEqual(affected(), [])
})

test('a change of the packages affects all tests, and an import cycle ends', () => {
  assert.deepEqual(findAffectedTests(tests, ['package.json'], sources), tests)
  const cycle = new Map([
    ['a.ts', "import './b.ts'"],
    ['b.ts', "import './a.ts'"],
    ['c.test.ts', "import './a.ts'"],
  ])
  assert.deepEqual(findAffectedTests(['c.test.ts'], ['b.ts'], cycle), ['c.test.ts'])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findSecurityFaults } from './check-security.ts'

const titles = ['T1: one', 'T1: on each database']
const source = `test('${titles[0]}', () => {})\ntestEachDatabase(\n  '${titles[1]}',\n  async () => {})`
const readFile = (path: string) => (path === 'server/a.test.ts' ? source : undefined)
const others = Array.from({ length: 44 }, (_, i) => `| T${i + 2} | … | missing | |`)

test('checks whose tests exist pass', () => {
  const rows = [
    `| T1 | … | holds | \`server/a.test.ts\`: ${titles[0]} |`,
    `| | | | \`server/a.test.ts\`: ${titles[1]} |`,
    ...others,
  ]
  assert.deepEqual(findSecurityFaults(rows.join('\n'), readFile), [])
})

test('tests that are not there, checks without one, and checks left out are reported', () => {
  const find = (first: string) => findSecurityFaults([first, ...others].join('\n'), readFile)
  assert.deepEqual(find('| T1 | … | holds | `server/a.test.ts`: T1: gone |'), [
    'T1: server/a.test.ts has no test "T1: gone"',
  ])
  assert.deepEqual(find('| T1 | … | in part: … | `server/gone.test.ts`: T1: one |'), [
    'T1: there is no server/gone.test.ts',
  ])
  assert.deepEqual(find('| T1 | … | holds | |'), ['T1: holds, with 0 tests'])
  assert.deepEqual(find('| T1 | … | missing | `server/a.test.ts`: T1: one |'), ['T1: missing, with 1 tests'])
  assert.deepEqual(find('| T1 | … | fine | `server/a.test.ts`: T1: one |'), [
    'T1: the state is one of holds, in part, missing',
  ])
  assert.deepEqual(find(''), ['T1 is left out'])
  assert.deepEqual(find('| T2 | … | missing | |'), ['T2 stands there twice', 'T1 is left out'])
})

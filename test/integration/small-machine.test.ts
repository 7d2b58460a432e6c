// The runtime options that the server sets if it plans with little memory.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import process from 'node:process'
import { test } from 'node:test'
import { openServer, openServerWith, type ServerProcess } from '../server-under-test.ts'

const options = { skip: process.platform !== 'linux' }

function readFlags({ pid }: ServerProcess): string[] {
  return read(pid, 'cmdline').filter((arg) => /^--max-(semi|old)-space-size=/.test(arg))
}

function read(pid: number, name: 'cmdline' | 'environ'): string[] {
  return readFileSync(`/proc/${pid}/${name}`, 'utf8').split('\0')
}

test('with little memory the heap of the server process is limited', options, async () => {
  await using server = await openServer('--memory-mb', '512')
  assert.deepEqual(readFlags(server), ['--max-semi-space-size=8', '--max-old-space-size=256'])
  assert.ok(read(server.pid, 'environ').includes('MALLOC_ARENA_MAX=2'))
  assert.equal((await server.request('/v1/me/')).status, 200)
  assert.equal(await server.stop(), 0)
})

test("the operator's heap options take precedence, and none are set if there is enough memory", options, async () => {
  const said = { NODE_OPTIONS: '--max-old-space-size=200 --max_semi_space_size=4' }
  await using tuned = await openServerWith(said, '--memory-mb', '512')
  assert.deepEqual(readFlags(tuned), [])
  assert.equal((await tuned.request('/v1/me/')).status, 200)
  await using large = await openServer('--memory-mb', '8192')
  assert.deepEqual(readFlags(large), [])
})

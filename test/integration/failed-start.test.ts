// A start that fails halfway ends the process, so that a supervisor can restart it; a process that hangs would stay.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const entry = fileURLToPath(new URL('../../server/commands/nightjar.ts', import.meta.url))

async function run(...args: string[]): Promise<{ stderr: string; code: number | string | null }> {
  const child = spawn(process.execPath, [entry, ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: 60_000,
    killSignal: 'SIGKILL',
  })
  const ended = new Promise<number | string | null>((resolve) =>
    child.once('exit', (code, signal) => resolve(code ?? signal)),
  )
  const [stderr, code] = await Promise.all([text(child.stderr), ended])
  return { stderr, code }
}

test('a start that fails halfway ends the process with an error message', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'nightjar-start-'))
  t.after(() => rm(dir, { recursive: true }))
  const whole = join(dir, 'whole')
  const ada = [
    '--email',
    'ada@example.org',
    '--first-name',
    'Ada',
    '--last-name',
    'L',
    '--password',
    'five good words here',
  ]
  assert.equal((await run('user', 'add', ...ada, '--data', whole)).code, 0)
  const listening = createServer().listen(0, '127.0.0.1')
  await once(listening, 'listening')
  t.after(() => listening.close())
  const { port } = listening.address() as { port: number }
  const cases: { name: string; damage?: string; port?: number; expected: RegExp }[] = [
    { name: 'before-anything-runs', damage: 'drop table segments', expected: /no such table: segments/ },
    { name: 'when-workers-run', damage: 'drop table recordings', expected: /no such table: recordings/ },
    { name: 'at-the-very-end', port, expected: new RegExp(`${port}`) },
  ]
  await Promise.all(
    cases.map(async ({ name, damage, port = 0, expected }) => {
      const data = join(dir, name)
      await cp(whole, data, { recursive: true })
      if (damage !== undefined) {
        using database = new DatabaseSync(join(data, 'nightjar.db'))
        database.exec(damage)
      }
      const { stderr, code } = await run('serve', '--data', data, '--host', '127.0.0.1', '--port', `${port}`)
      assert.equal(code, 1, `${name}: ${stderr}`)
      assert.match(stderr, expected, name)
    }),
  )
})

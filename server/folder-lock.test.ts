import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { lockFolder } from './folder-lock.ts'

test('a folder has one holder; it is free again when that one lets go, or is killed', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'nightjar-lock-'))
  t.after(() => rm(folder, { recursive: true }))
  {
    using _lock = lockFolder(folder)
    assert.throws(() => lockFolder(folder), { kind: 'conflict' })
  }
  const module = new URL('./folder-lock.ts', import.meta.url)
  const script = `import { lockFolder } from ${JSON.stringify(module.href)}
    globalThis.lock = lockFolder(${JSON.stringify(folder)}); console.log('held'); setInterval(() => {}, 1000)`
  const holder = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(holder.stdout, 'data')
  assert.throws(() => lockFolder(folder), /another Nightjar server is running/)
  holder.kill('SIGKILL')
  await once(holder, 'exit')
  lockFolder(folder)[Symbol.dispose]()
})

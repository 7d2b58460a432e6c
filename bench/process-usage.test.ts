import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import test from 'node:test'
import { countProcesses, parseStat, readCpuMs, readMemoryBytes } from './process-usage.ts'

test('a program whose name holds brackets and spaces is parsed', () => {
  const rest = '1234 0 0 0 -1 0 0 0 0 0 150 50 7 3 20 0 11 0'
  assert.deepEqual(parseStat(`42 (a b) c) S ${rest}`), { parentPid: 1234, ownCpuMs: 2000, childrenCpuMs: 100 })
})

test('a busy child is counted, living and ended', async (t) => {
  const busy = 'while (process.cpuUsage().user < 400_000); process.send(0); process.on("message", () => {})'
  const before = await readCpuMs([process.pid])
  const child = spawn(process.execPath, ['-e', busy], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
  t.after(() => child.kill('SIGKILL'))
  await once(child, 'message')
  assert.equal(await countProcesses([process.pid]), 2)
  const during = await readCpuMs([process.pid])
  assert.ok(during - before >= 350, `${during - before} ms`)
  assert.ok((await readMemoryBytes([child.pid!])) > 10_000_000)
  child.kill()
  await once(child, 'exit')
  const after = await readCpuMs([process.pid])
  assert.ok(after >= during, `${after} ms after ${during} ms`)
})

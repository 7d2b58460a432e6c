// All processes of `npm start` and `npm run demo` end, whichever of them gets a signal, and only then.

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { databaseFile } from '../../server/store/engine/database-file.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

type Started = { readonly child: ChildProcess; readonly group: number; readonly pids: readonly Process[] }
type Process = { readonly pid: number; readonly parent: number; readonly group: number; readonly command: string }

/** Runs in a process group of its own. `pids` lists all of its processes once it reports that it is ready. */
async function start(t: TestContext, command: string, ...args: string[]): Promise<Started> {
  const child = spawn(command, args, { cwd: root, detached: true, stdio: ['ignore', 'pipe', 'inherit'] })
  const group = child.pid!
  t.after(async () => {
    for (const { pid } of await listGroup(group)) process.kill(pid, 'SIGKILL')
  })
  for await (const line of createInterface(child.stdout!)) if (line.startsWith('{')) break
  return { child, group, pids: await listGroup(group) }
}

async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'nightjar-npm-'))
  // Processes that a failed test left behind may still be writing.
  t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

const serve = (dataDir: string) => ['start', '--silent', '--', '--data', dataDir, '--port', '0', '--json']

async function listGroup(group: number): Promise<Process[]> {
  const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(names.map((name) => readProcess(Number(name)).catch(() => undefined)))
  return found.filter((process): process is Process => process?.group === group)
}

async function readProcess(pid: number): Promise<Process | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1')
  // The program name in parentheses may contain any character.
  const [state, parent, group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  if (state === 'Z') return undefined
  const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ')
  return { pid, parent: Number(parent), group: Number(group), command }
}

async function assertGone({ group }: Started): Promise<void> {
  const deadlineMs = performance.now() + 60_000
  while (true) {
    const left = await listGroup(group)
    if (left.length === 0) return
    const command = left.map(({ pid, command }) => `${pid} ${command}`)
    assert.ok(performance.now() < deadlineMs, `still there after a minute:\n${command.join('\n')}`)
    await sleep(100)
  }
}

function countSegments(dataDir: string): { open: number; closed: number } {
  const database = new DatabaseSync(databaseFile(dataDir), { readOnly: true })
  try {
    const count = (isClosed: 0 | 1) =>
      Number(database.prepare('select count(*) as n from segments where is_closed = ?').get(isClosed)!.n)
    return { open: count(0), closed: count(1) }
  } finally {
    database.close()
  }
}

test('SIGTERM to `npm run demo` ends the server and the cameras and completes the footage', async (t) => {
  const dataDir = await temporaryFolder(t)
  const demo = await start(t, 'npm', 'run', 'demo', '--silent', '--', '--data', dataDir, '--port', '0', '--json')
  assert.ok(
    demo.pids.some(({ command }) => command.includes('fake-camera')),
    'there are cameras',
  )
  const exited = once(demo.child, 'exit')
  demo.child.kill('SIGTERM')
  // npm waits for its child, so everything is written once npm has ended.
  await exited
  const { open, closed } = countSegments(dataDir)
  assert.ok(open === 0 && closed >= 2, `${open} files open, ${closed} closed`)
  await assertGone(demo)
})

for (const signal of ['SIGTERM', 'SIGKILL', 'SIGHUP'] as const) {
  test(`${signal} to \`npm start\` ends the server`, async (t) => {
    const server = await start(t, 'npm', ...serve(await temporaryFolder(t)))
    server.child.kill(signal)
    await assertGone(server)
  })
}

test('Ctrl-C, which reaches every process of the terminal, ends the server', async (t) => {
  const server = await start(t, 'npm', ...serve(await temporaryFolder(t)))
  process.kill(-server.group, 'SIGINT')
  await assertGone(server)
})

test('the server ends when the process between npm and the server is killed', async (t) => {
  const server = await start(t, 'npm', ...serve(await temporaryFolder(t)))
  const runner = server.pids.find(({ command }) => command.includes('scripts/run.js'))
  process.kill(runner!.pid, 'SIGKILL')
  await assertGone(server)
})

test('all processes of the demo end when its main process is killed', async (t) => {
  const dataDir = await temporaryFolder(t)
  const demo = await start(t, 'npm', 'run', 'demo', '--silent', '--', '--data', dataDir, '--port', '0', '--json')
  const program = demo.pids.find(({ command }) => command.includes('scripts/demo.ts') && !command.includes('run.js'))
  process.kill(program!.pid, 'SIGKILL')
  await assertGone(demo)
  assert.equal(countSegments(dataDir).open, 0)
})

test('a server in the background outlives the shell that started it', async (t) => {
  const dataDir = await temporaryFolder(t)
  const command = `npm ${serve(dataDir).join(' ')} &`
  const server = await start(t, 'sh', '-c', command)
  // Twice the time that it takes to notice that the parent process is gone.
  await sleep(2500)
  const left = await listGroup(server.group)
  assert.deepEqual(left.map(({ pid }) => pid).sort(), server.pids.map(({ pid }) => pid).sort())
  const npm = left.find(({ command }) => command.startsWith('npm'))
  assert.equal(npm!.parent === server.child.pid, false)
  process.kill(npm!.pid, 'SIGTERM')
  await assertGone(server)
})

// Loaded into the process of every test file before the file. Gives the process a temporary folder of its own, writes
// down what it used, and ends it if its tests leave something running: that is a fault and not a reason to wait forever.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'
import { isMainThread } from 'node:worker_threads'
import { inOwnNetwork } from '../test/audit/cluster-network.ts'

/** User and system time of the process and of the processes it waited for. */
export type Usage = { readonly cpuSeconds: number; readonly files: readonly FileUsage[] }

/** What each file of a process that several share took, in the order in which they ended. */
export type FileUsage = { readonly title: string; readonly seconds: number; readonly cpuSeconds: number }

declare global {
  /** Called when all files are loaded. */
  var noteTestsLoaded: () => void
  /** Called at the end of each file of a process that several share. */
  var noteTestFile: (title: string) => void
}

const patienceMs = 20_000
const { searchParams } = new URL(import.meta.url)
const folder = searchParams.get('folder')

// Threads and forked processes load this file too. A test runner in them would handle errors that the program under
// test handles itself.
if (folder !== null && isMainThread && process.env.TMPDIR !== folder) {
  // The browser that all files share cannot reach a server in another network.
  if (searchParams.has('apart') && (await inOwnNetwork())) delete process.env.NIGHTJAR_TEST_CHROMIUM
  process.env.TMPDIR = folder
  // What it starts inherits it. Linux knows it for each thread, and only root may take it back.
  const priority = Math.max(getPriority(), Number(searchParams.get('priority')))
  const threads = process.platform === 'linux' ? readdirSync('/proc/self/task').map(Number) : [process.pid]
  for (const thread of threads) setPriority(thread, priority)
  const seed = process.env.NIGHTJAR_TEST_SEED
  if (seed !== undefined) (await import('fast-check')).configureGlobal({ seed: Number(seed) })
  const files: FileUsage[] = []
  let [lastMs, lastCpuSeconds] = [performance.now(), readCpuSeconds()]
  globalThis.noteTestFile = (title) => {
    const [nowMs, cpuSeconds] = [performance.now(), readCpuSeconds()]
    files.push({ title, seconds: (nowMs - lastMs) / 1000, cpuSeconds: cpuSeconds - lastCpuSeconds })
    lastMs = nowMs
    lastCpuSeconds = cpuSeconds
  }
  process.on('exit', () => {
    const usage: Usage = { cpuSeconds: readCpuSeconds(), files }
    writeFileSync(`${folder}.json`, JSON.stringify(usage))
  })
  const { after } = await importTestRunner()
  after(() => {
    const onLate = () => {
      console.error(`${process.argv[1]}: the tests are over, but something keeps the process: ${describeResources()}`)
      process.exit(1)
    }
    // Keeps nobody alive itself, so it only comes when something else does.
    setTimeout(onLate, patienceMs).unref()
  })
}

/**
 * The test runner notes for each promise which test has made it, which takes a tenth of all CPU time. It needs that while
 * files are loaded, and later only to tell whose an error is that nobody caught: then, the process fails.
 */
async function importTestRunner() {
  const { default: asyncHooks } = await import('node:async_hooks')
  const { createHook } = asyncHooks
  asyncHooks.createHook = (callbacks) => {
    asyncHooks.createHook = createHook
    const noting = createHook(callbacks)
    globalThis.noteTestsLoaded = () => void noting.disable()
    return noting
  }
  return import('node:test')
}

function readCpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  if (process.platform !== 'linux') return (user + system) / 1e6
  // proc(5): utime, stime, cutime and cstime in ticks of 10 ms. The program's name may contain anything.
  const stat = readFileSync('/proc/self/stat', 'latin1')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100
}

function describeResources(): string {
  return [...new Set(process.getActiveResourcesInfo())].join(', ')
}

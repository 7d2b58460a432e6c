// Runs test files beside each other, as many as the machine has time for, and reports what each of them took and left
// behind.

import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { Transform } from 'node:stream'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import type { Counts } from './steps.ts'
import type { FileUsage, Usage } from './test-process.ts'

export type TestRun = {
  /** Files that share a process, one after the other, so that what they all import is loaded once. They start first. */
  readonly batches?: readonly Batch[]
  /** Each has a process of its own. They are started in this order. */
  readonly files?: readonly string[]
  /** Run one at a time, beside all others, which get a processor only while these leave one idle. */
  readonly first?: readonly string[]
}

export type Batch = { readonly title: string; readonly files: readonly string[] }

/** `text`: what its failed tests told, and what it left behind. */
type Failure = { readonly title: string; readonly text: string }

/** A test that hangs is ended after this time, and all tests of a file that shares a process. Slow machines need minutes. */
const testTimeoutMs = 8 * 60_000
/** A process that hangs is ended after this time, and counted as failed. */
const processTimeoutMs = 20 * 60_000
/** Another process is started when so much of the machine was idle since the last look: the last one has started by then. */
const idleShare = 0.2
const lookMs = 1000
/** Several times what all temporary files of a run take at once. */
const neededBytes = 8e9
const mostAtOnce = 4 * cpus().length
/**
 * Of the memory for new objects. V8 also looks through all old objects whenever 64 MB of buffers have been allocated, unless
 * those that are not used any more have been freed with the new objects before.
 */
const newSpaceMb = 2
/** Of the processes that run beside those that come first, as for `setpriority`: a ninth of the weight of these. */
const niceness = 10

export class TestRuns {
  /** Of each file; what a shared process took beside its files has the title of the batch. */
  readonly results: FileUsage[] = []
  readonly failures: Failure[] = []
  readonly #counts: Counts
  readonly #apart: ReadonlySet<string>
  /** Holds the temporary files of the processes and of what they share. */
  readonly #folder = mkdtempSync(join(findTemporaryPlace(), 'nightjar-tests-'))
  readonly #begun = readCpuTimes()
  #processCount = 0
  #entryCount = 0

  /** `apart`: files that get a network namespace of their own, if this user may make one. */
  constructor(counts: Counts, apart: ReadonlySet<string> = new Set()) {
    this.#counts = counts
    this.#apart = apart
    const begunMs = Date.now()
    // Some tests start programs as another user.
    chmodSync(this.#folder, 0o755)
    const services = join(this.#folder, 'services')
    mkdirSync(services)
    process.env.TMPDIR = services
    // Programs that play audio make this folder and leave it.
    process.env.PULSE_RUNTIME_PATH = join(this.#folder, 'pulse')
    process.once('exit', () => {
      unmountAll(this.#folder)
      removeSharedMemory(begunMs)
      rmSync(this.#folder, { recursive: true, force: true })
    })
    // More than once: the group of a terminal gets a signal, and npm passes it on too.
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => this.#abort())
  }

  async run({ batches = [], files = [], first = [] }: TestRun): Promise<void> {
    const lane = this.#runEach(first)
    const waiting = [...batches, ...files.map((file) => ({ title: file, files: [file] }))]
    const running = new Set<Promise<void>>()
    let before = readCpuTimes()
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      while (running.size >= 2) {
        await Promise.race([...running, sleep(lookMs)])
        const now = readCpuTimes()
        if (now.total === before.total) continue
        const share = (now.idle - before.idle) / (now.total - before.total)
        before = now
        if (running.size < mostAtOnce && share >= idleShare) break
      }
      const started = this.#runProcess(next, niceness).finally(() => running.delete(started))
      running.add(started)
    }
    await Promise.all([...running, lane])
  }

  async #runEach(files: readonly string[]): Promise<void> {
    for (const file of files) await this.#runProcess({ title: file, files: [file] })
  }

  /** Ends everything that was started, which a signal to this process alone does not reach. */
  #abort(): void {
    for (const { pid } of listProcesses(this.#folder)) endProcess(pid)
    process.exit(1)
  }

  /** Counts what services that all processes shared left behind, after they have ended. */
  async checkServices(): Promise<void> {
    const left = await findLeftovers(join(this.#folder, 'services'))
    if (left.length > 0) this.#fail('services', 1, describeLeftovers(left))
  }

  /** The slowest files, the CPU time of all, and how much of the machine they had. */
  describeTimes(count: number): string {
    const rows = this.results
      .toSorted((a, b) => b.seconds - a.seconds)
      .slice(0, count)
      .map(({ title, seconds, cpuSeconds }) => `${seconds.toFixed(1).padStart(7)} ${cpuSeconds.toFixed(1).padStart(7)}  ${title}`) // biome-ignore format: one line
    const cpuSeconds = this.results.reduce((sum, result) => sum + result.cpuSeconds, 0)
    const now = readCpuTimes()
    const share = (kind: 'idle' | 'stolen') => (now[kind] - this.#begun[kind]) / (now.total - this.#begun.total)
    const machine = `processors: ${(100 * share('idle')).toFixed(0)} % idle, ${(100 * share('stolen')).toFixed(0)} % taken by the host`
    return ['seconds     CPU  slowest files', ...rows, `CPU time of all: ${cpuSeconds.toFixed(0)} s; ${machine}`].join(
      '\n',
    )
  }

  /** Writes what each file took to this one, for comparisons. */
  writeTimes(file: string): void {
    writeFileSync(file, `${JSON.stringify(this.results, null, 1)}\n`)
  }

  async #runProcess({ title, files }: Batch, priority = 0): Promise<void> {
    const folder = join(this.#folder, `${++this.#processCount}`)
    mkdirSync(folder)
    chmodSync(folder, 0o1777)
    const setup = pathToFileURL(join(import.meta.dirname, 'test-process.ts'))
    setup.searchParams.set('folder', folder)
    setup.searchParams.set('priority', `${priority}`)
    if (files.some((file) => this.#apart.has(file))) setup.searchParams.set('apart', '')
    const execArgv = ['--import', setup.href, `--test-timeout=${testTimeoutMs}`, `--max-semi-space-size=${newSpaceMb}`]
    const begunMs = performance.now()
    const events = run({ files: [this.#writeEntry(files)], concurrency: 1, timeout: processTimeoutMs, execArgv })
    let failed = 0
    const counter = new Transform({
      objectMode: true,
      transform: (event, _encoding, done) => {
        if (event.type === 'test:summary' && event.data.file === undefined) {
          const { passed, failed: some, cancelled } = event.data.counts
          this.#counts.passed += passed
          // Suites are not counted: one whose file cannot be loaded, or whose hook fails, only makes the run fail.
          failed += some + cancelled || (event.data.success ? 0 : 1)
        }
        const isSummary = event.type === 'test:diagnostic' && summaryLine.test(event.data.message)
        done(null, isSummary ? undefined : event)
      },
    })
    let text = ''
    for await (const part of events.pipe(counter).pipe(new spec())) text += part
    const left = await findLeftovers(folder)
    if (left.length > 0) failed++
    const { cpuSeconds, files: parts } = readUsage(folder)
    const seconds = (performance.now() - begunMs) / 1000
    const sum = (key: 'seconds' | 'cpuSeconds') => parts.reduce((total, part) => total + part[key], 0)
    const rest = { title, seconds: seconds - sum('seconds'), cpuSeconds: cpuSeconds - sum('cpuSeconds') }
    this.results.push(...parts, rest)
    // The reporter tells each failure again at the end, with its error.
    const [report = '', ...errors] = text.trim().split(/^(?=✖ failing tests:)/m)
    process.stdout.write(`\n${title} (${seconds.toFixed(1)} s, CPU ${cpuSeconds.toFixed(1)} s)\n${report.trim()}\n`)
    if (failed > 0) this.#fail(title, failed, [...errors, describeLeftovers(left)].join('\n'))
  }

  #fail(title: string, count: number, text: string): void {
    this.#counts.failed += count
    this.failures.push({ title, text: text.trim() })
    console.log(`✖ ${title}\n${text.trim()}`)
  }

  /** Writes a file that loads these: one as it is, several each as a suite, with the hooks at the top level of the file. */
  #writeEntry(files: readonly string[]): string {
    const path = join(this.#folder, `${++this.#entryCount}.test.mjs`)
    const loads = files.map((file) => {
      const [title, url] = [file, pathToFileURL(file).href].map((text) => JSON.stringify(text))
      const load = `loads.push(import(${url}))`
      return files.length === 1
        ? `${load}\n`
        : `suite(${title}, () => (after(() => noteTestFile(${title})), ${load}, loads.at(-1)))\n`
    })
    const [begin, end] = [
      "import { after, suite } from 'node:test'\nconst loads = []\n",
      'await Promise.all(loads)\nnoteTestsLoaded()\n',
    ]
    writeFileSync(path, `${begin}${loads.join('')}${end}`)
    return path
  }
}

/** Divides files among `count` batches, so that each has some from the beginning of the list and some from its end. */
export function divide(title: string, files: readonly string[], count: number): Batch[] {
  return Array.from({ length: Math.min(count, files.length) }, (_, index) => ({
    title: `${title} ${index + 1}`,
    files: files.filter((_file, at) => at % count === index),
  }))
}

/**
 * Memory that is mounted as a folder, if there is enough of it: a third of the time of tests that write databases would
 * be waiting for a disk.
 */
function findTemporaryPlace(): string {
  const memory = '/dev/shm'
  if (process.platform !== 'linux' || process.env.TMPDIR !== undefined) return tmpdir()
  try {
    const mount = readFileSync('/proc/self/mounts', 'utf8')
      .split('\n')
      .find((line) => line.split(' ')[1] === memory)
    const { bavail, bsize } = statfsSync(memory)
    const isFit =
      mount !== undefined && !/\b(ro|noexec)\b/.test(mount.split(' ')[3] ?? '') && bavail * bsize >= neededBytes
    return isFit ? memory : tmpdir()
  } catch {
    return tmpdir()
  }
}

/** What Node.js adds at the end of a run. */
const summaryLine = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/

type CpuTimes = { readonly idle: number; readonly stolen: number; readonly total: number }

/** Of all processors since the machine was started. Stolen: a processor was wanted here, and the host ran something else. */
function readCpuTimes(): CpuTimes {
  if (process.platform === 'linux') {
    const line = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0]!
    const [user, nice, system, idle, waiting, irq, softIrq, stolen] = line.match(/\d+/g)!.map(Number)
    const total = user! + nice! + system! + idle! + waiting! + irq! + softIrq! + stolen!
    return { idle: idle! + waiting!, stolen: stolen!, total }
  }
  const sum = { idle: 0, stolen: 0, total: 0 }
  for (const { times } of cpus()) {
    sum.idle += times.idle
    sum.total += times.idle + times.user + times.nice + times.sys + times.irq
  }
  return sum
}

function readUsage(folder: string): Usage {
  try {
    return JSON.parse(readFileSync(`${folder}.json`, 'utf8'))
  } catch {
    return { cpuSeconds: 0, files: [] } // the process was killed
  }
}

/** Files in the temporary folder of a test process that has ended, and processes that it started. Ends the processes. */
async function findLeftovers(folder: string): Promise<string[]> {
  const files = readdirSync(folder).map((name) => `the temporary file or folder ${name}`)
  let processes = listProcesses(folder)
  for (let waitedMs = 0; processes.length > 0 && waitedMs < 3000; waitedMs += 200) {
    await sleep(200)
    processes = listProcesses(folder)
  }
  for (const { pid } of processes) endProcess(pid)
  return [...files, ...processes.map(({ pid, command }) => `process ${pid}, ${command}`)]
}

/** What tests that were ended have mounted there. Nothing can be deleted before. */
function unmountAll(folder: string): void {
  if (process.platform !== 'linux') return
  const points = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => (line.split(' ')[1] ?? '').replaceAll('\\040', ' '))
  for (const point of points.reverse())
    if (point.startsWith(`${folder}/`)) spawnSync('umount', ['--lazy', point], { stdio: 'ignore' })
}

/** What libfaketime leaves behind in processes that are killed, whose numbers it has in its name. */
function removeSharedMemory(sinceMs: number): void {
  const folder = '/dev/shm'
  if (process.platform !== 'linux' || !existsSync(folder)) return
  for (const name of readdirSync(folder)) {
    const pid = /^(?:sem\.)?faketime_(?:sem|shm)_(\d+)$/.exec(name)?.[1]
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue
    const file = join(folder, name)
    if ((statSync(file, { throwIfNoEntry: false })?.ctimeMs ?? 0) >= sinceMs) rmSync(file, { force: true })
  }
}

function describeLeftovers(left: readonly string[]): string {
  return left.map((each) => `✖ left behind: ${each}`).join('\n')
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended meanwhile.
  }
}

/** The processes whose temporary folder is this one, or in it. Only Linux tells. */
function listProcesses(folder: string): { pid: number; command: string }[] {
  if (process.platform !== 'linux') return []
  const found = []
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const variables = readFileSync(`/proc/${name}/environ`, 'latin1').split('\0')
      if (!variables.some((each) => `${each}/`.startsWith(`TMPDIR=${folder}/`))) continue
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
      if (command !== '') found.push({ pid: Number(name), command })
    } catch {
      // It has ended, or belongs to another user.
    }
  }
  return found
}

// The static checks and test runs that `npm run check` and `npm test` are made of, counted alike.

import { execFile } from 'node:child_process'
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Transform } from 'node:stream'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { pathToFileURL } from 'node:url'
import { findPostgres, TemporaryPostgres } from '../test/postgres/temporary-postgres.ts'

/** Tests that run without a server process of their own. */
export const unitTests = '{contract,server,sdk,web,scripts,bench}/**/*.test.ts'

export type Counts = { passed: number; failed: number }

/** Format, lint, types, floors and documentation, two at a time: each counts as one test. */
export async function runStaticChecks(counts: Counts): Promise<void> {
  const bin = (name: string) => join('node_modules', '.bin', name)
  const checks: (readonly [string, string, ...string[]])[] = [
    ['format and lint', bin('biome'), 'ci', '--colors=off', '.'],
    ['types', bin('tsc')],
    ['types of the dashboard', bin('tsc'), '-p', 'web'],
    ['types of the SDK', bin('tsc'), '-p', 'sdk', '--noEmit'],
    ['floors', process.execPath, 'scripts/check-floors.ts'],
    ['documentation', process.execPath, 'scripts/check-docs.ts'],
    ['words', process.execPath, 'scripts/check-words.ts'],
    ['security checks and their tests', process.execPath, 'scripts/check-security.ts'],
  ]
  const runInTurn = async () => {
    for (let check = checks.shift(); check !== undefined; check = checks.shift()) {
      const [title, program, ...args] = check
      const { isPassed, output } = await runCheck(program, args)
      counts[isPassed ? 'passed' : 'failed']++
      console.log(`${isPassed ? '✔' : '✖'} ${title}`)
      if (!isPassed) console.log(output)
    }
  }
  await Promise.all([runInTurn(), runInTurn()])
}

function runCheck(program: string, args: readonly string[]): Promise<{ isPassed: boolean; output: string }> {
  return new Promise((resolve) => {
    execFile(program, args, { maxBuffer: 64 * 2 ** 20 }, (error, stdout, stderr) => {
      const isStarted = typeof error?.code !== 'string'
      resolve({ isPassed: error === null, output: `${stdout}${stderr}${isStarted ? '' : error}` })
    })
  })
}

export type TestRun = {
  readonly files: readonly string[]
  /** How many processes at once. */
  readonly concurrency: number
  /** Longest time a single test may take, milliseconds. */
  readonly timeoutMs: number
  /**
   * The files are divided among `concurrency` processes, so that what they all import is loaded once in each. Only for files without
   * hooks at their top level. Otherwise each file has a process of its own.
   */
  readonly isBatched?: boolean
}

/** Twice what all of a run should take: a run that hangs is aborted then, and counted as failed. */
const maxRunMs = 40 * 60_000

/**
 * Starts a PostgreSQL server that all test files share (test/postgres/each-database.ts); undefined if PostgreSQL is not
 * installed.
 */
export async function sharePostgres(): Promise<TemporaryPostgres | undefined> {
  const bin = findPostgres()
  if (bin === undefined) return undefined
  const postgres = await TemporaryPostgres.open(bin)
  process.env.NIGHTJAR_TEST_POSTGRES = postgres.url('postgres')
  return postgres
}

/** The paths that match, sorted. Throws if there are none. */
export function findTests(pattern: string, except: readonly string[] = []): string[] {
  const files = globSync(pattern, { exclude: ['node_modules/**', ...except] }).sort()
  if (files.length === 0) throw new Error(`no test file matches ${pattern}`)
  return files
}

/** Runs the test files and prints the results as they arrive. A file that cannot be loaded counts as failed. */
export async function runTests(
  { files, concurrency, timeoutMs, isBatched = false }: TestRun,
  counts: Counts,
): Promise<void> {
  const batches = isBatched ? writeBatches(files, concurrency) : undefined
  const execArgv = ['--import', new URL('test-end.ts', import.meta.url).href, `--test-timeout=${timeoutMs}`]
  const signal = AbortSignal.timeout(maxRunMs)
  const timeout = batches ? maxRunMs : timeoutMs
  const events = run({ files: batches?.files ?? [...files], concurrency, timeout, execArgv, signal })
  const counter = new Transform({
    objectMode: true,
    transform(event, _encoding, done) {
      if (event.type === 'test:summary' && event.data.file === undefined) {
        const { passed, failed, cancelled } = event.data.counts
        counts.passed += passed
        counts.failed += failed + cancelled
      }
      done(null, event)
    },
  })
  const printed = events.pipe(counter).pipe(new spec())
  for await (const text of printed) process.stdout.write(text)
  batches?.remove()
}

/** Writes one file per batch, which imports the test files of the batch. */
function writeBatches(files: readonly string[], count: number) {
  const dir = mkdtempSync(join(tmpdir(), 'nightjar-tests-'))
  const batches = Array.from({ length: Math.min(count, files.length) }, (_, index) => {
    const urls = files.filter((_file, at) => at % count === index).map((file) => pathToFileURL(file).href)
    const path = join(dir, `batch-${index}.test.mjs`)
    writeFileSync(path, batchSource(urls))
    return path
  })
  return { files: batches, remove: () => rmSync(dir, { recursive: true }) }
}

/** The first test lasts until all files are loaded, because hooks for the end run when no test is pending. */
function batchSource(urls: readonly string[]): string {
  return `import { test } from 'node:test'
const loading = Promise.withResolvers()
test('${urls.length} test files are loaded', () => loading.promise)
const errors = []
for (const url of ${JSON.stringify(urls)}) await import(url).catch((error) => errors.push(new Error(url, { cause: error })))
if (errors.length === 0) loading.resolve()
else loading.reject(new AggregateError(errors, 'some test files cannot be loaded'))
`
}

/** The closing line, and the exit code that goes with it. */
export function finish({ passed, failed }: Counts): void {
  console.log(`\n${passed} passed, ${failed} failed`)
  process.exit(failed === 0 && passed > 0 ? 0 : 1)
}

// The static checks and test runs that `npm run check` and `npm test` are made of, counted alike.

import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { Transform } from 'node:stream'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { findPostgres, TemporaryPostgres } from '../test/postgres/temporary-postgres.ts'

/** Tests that run without a server process of their own. */
export const unitTests = '{contract,server,sdk,web,scripts,bench}/**/*.test.ts'

export type Counts = { passed: number; failed: number }

/** Format, lint, types, floors and documentation: each counts as one test. */
export function runStaticChecks(counts: Counts): void {
  const bin = (name: string) => join('node_modules', '.bin', name)
  const checks: readonly (readonly [string, string, ...string[]])[] = [
    ['format and lint', bin('biome'), 'ci', '--colors=off', '.'],
    ['types', bin('tsc')],
    ['types of the dashboard', bin('tsc'), '-p', 'web'],
    ['types of the SDK', bin('tsc'), '-p', 'sdk', '--noEmit'],
    ['floors', process.execPath, 'scripts/check-floors.ts'],
    ['documentation', process.execPath, 'scripts/check-docs.ts'],
    ['words', process.execPath, 'scripts/check-words.ts'],
    ['security checks and their tests', process.execPath, 'scripts/check-security.ts'],
  ]
  for (const [title, program, ...args] of checks) {
    const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' })
    const isPassed = status === 0
    counts[isPassed ? 'passed' : 'failed']++
    console.log(`${isPassed ? '✔' : '✖'} ${title}`)
    if (!isPassed) console.log(`${stdout}${stderr}`)
  }
}

export type TestRun = {
  readonly patterns: readonly string[]
  readonly except?: readonly string[]
  /** How many files at once. */
  readonly concurrency: number
  /** Longest time a single test may take, milliseconds. */
  readonly timeoutMs: number
}

/** Twice what all of a run should take: whatever stands still then is ended, and counted as failed. */
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

/** Runs the test files that match, printing as they go. Files that hold no test, or end badly, count as failed. */
export async function runTests(
  { patterns, except = [], concurrency, timeoutMs }: TestRun,
  counts: Counts,
): Promise<void> {
  const files = globSync([...patterns], { exclude: ['node_modules/**', ...except] }).sort()
  if (files.length === 0) throw new Error(`no test file matches ${patterns.join(' ')}`)
  const execArgv = ['--import', new URL('test-end.ts', import.meta.url).href]
  const signal = AbortSignal.timeout(maxRunMs)
  const events = run({ files, concurrency, timeout: timeoutMs, execArgv, signal })
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
}

/** The closing line, and the exit code that goes with it. */
export function finish({ passed, failed }: Counts): void {
  console.log(`\n${passed} passed, ${failed} failed`)
  process.exit(failed === 0 && passed > 0 ? 0 : 1)
}

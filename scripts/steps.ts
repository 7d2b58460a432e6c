// What `npm run check` and `npm test` are made of beside test runs: static checks, services, lists of files, the end.

import { execFile, spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { createTemplate, findPostgres, TemporaryPostgres } from '../test/postgres/temporary-postgres.ts'

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

/**
 * Starts a PostgreSQL server that all test files share (test/postgres/each-database.ts); undefined if PostgreSQL is not
 * installed.
 */
export async function sharePostgres(): Promise<TemporaryPostgres | undefined> {
  const bin = findPostgres()
  if (bin === undefined) return undefined
  const postgres = await TemporaryPostgres.open(bin)
  process.env.NIGHTJAR_TEST_POSTGRES = postgres.url('postgres')
  process.env.NIGHTJAR_TEST_TEMPLATE = await createTemplate(postgres.url('postgres'))
  return postgres
}

/** The paths that match, sorted. Throws if there are none. */
export function findTests(pattern: string): string[] {
  const files = globSync(pattern, { exclude: ['node_modules/**'] }).sort()
  if (files.length === 0) throw new Error(`no test file matches ${pattern}`)
  return files
}

/** Changed and new files, committed or not. Exits if `since` is not a commit. */
export function listChangedFiles(since: string = findBase()): string[] {
  const changed = git('diff', '--name-only', since)
  const added = git('ls-files', '--others', '--exclude-standard')
  if (changed === undefined || added === undefined) {
    console.error(`Git cannot compare the files with ${since}. Use --since with another commit.`)
    process.exit(2)
  }
  return `${changed}${added}`.split('\n').filter((path) => path !== '')
}

/** The commit that the branch was last pushed at, or that of main, or the present one. */
function findBase(): string {
  const find = (ref: string) => git('rev-parse', '--verify', '--quiet', ref)?.trim()
  return find('@{upstream}') ?? find('main@{upstream}') ?? 'HEAD'
}

function git(...args: string[]): string | undefined {
  const { status, stdout } = spawnSync('git', args, { encoding: 'utf8' })
  return status === 0 ? stdout : undefined
}

/** The closing line, and the exit code that goes with it. */
export function finish({ passed, failed }: Counts): void {
  console.log(`\n${passed} passed, ${failed} failed`)
  process.exit(failed === 0 && passed > 0 ? 0 : 1)
}

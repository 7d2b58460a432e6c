// npm run check: the static checks, and the unit tests that depend on changed files.

import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { findAffectedTests } from './affected-tests.ts'
import { readSources } from './module-graph.ts'
import { findTests, finish, runStaticChecks, runTests, sharePostgres, unitTests } from './steps.ts'

const help = `npm run check -- [options]

Runs the static checks, and the unit tests that depend on files that changed since the last push, or since the last
commit if the branch follows no other.

  --since REF  changed since this commit, for example main
  --all        all unit tests
  --help       show this help`

const { values } = parseArgs({
  options: { since: { type: 'string' }, all: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
})
if (values.help) console.log(help)
else await check()

async function check(): Promise<void> {
  const counts = { passed: 0, failed: 0 }
  const tests = findTests(unitTests)
  const chosen = values.all ? tests : findAffectedTests(tests, listChanged(values.since ?? findBase()), readSources())
  await runStaticChecks(counts)
  console.log(`${chosen.length} of ${tests.length} files of unit tests depend on changes`)
  if (chosen.length > 0) {
    const postgres = await sharePostgres()
    await runTests({ files: chosen, concurrency: 3, timeoutMs: 60_000, isBatched: true }, counts)
    await postgres?.close()
  }
  finish(counts)
}

/** The commit that the branch was last pushed at, or the present one. */
function findBase(): string {
  return git('rev-parse', '--verify', '--quiet', '@{upstream}')?.trim() || 'HEAD'
}

/** Changed and new files, committed or not. Exits if `since` is not a commit. */
function listChanged(since: string): string[] {
  const changed = git('diff', '--name-only', since)
  const added = git('ls-files', '--others', '--exclude-standard')
  if (changed === undefined || added === undefined) {
    console.error(`Git cannot compare the files with ${since}. Use --since with another commit, or --all.`)
    process.exit(2)
  }
  return `${changed}${added}`.split('\n').filter((path) => path !== '')
}

function git(...args: string[]): string | undefined {
  const { status, stdout } = spawnSync('git', args, { encoding: 'utf8' })
  return status === 0 ? stdout : undefined
}

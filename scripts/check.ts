// npm run check: the static checks, and the unit tests that depend on changed files.

import { parseArgs } from 'node:util'
import { findAffectedTests } from './affected-tests.ts'
import { readSources } from './module-graph.ts'
import { findTests, finish, listChangedFiles, runStaticChecks, sharePostgres, unitTests } from './steps.ts'
import { divide, TestRuns } from './test-runs.ts'

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
  const chosen = values.all ? tests : findAffectedTests(tests, listChangedFiles(values.since), readSources())
  await runStaticChecks(counts)
  console.log(`${chosen.length} of ${tests.length} files of unit tests depend on changes`)
  if (chosen.length > 0) {
    const runs = new TestRuns(counts)
    const postgres = await sharePostgres()
    await runs.run({ batches: divide('unit tests', chosen, 3) })
    await postgres?.close()
  }
  finish(counts)
}

// npm test: everything but the long set. Sets up what the tests need, then static checks, unit, integration and
// end-to-end tests. With names, --changed or --long, a part of the tests.

import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { shareChromium } from '../test/e2e/browser.ts'
import { findAffectedTests } from './affected-tests.ts'
import { readSources } from './module-graph.ts'
import { findTests, finish, listChangedFiles, runStaticChecks, sharePostgres, unitTests } from './steps.ts'
import { ensureTestPackages } from './test-packages.ts'
import { divide, TestRuns } from './test-runs.ts'

const help = `npm test -- [NAME…] [options]

Runs the static checks and all tests but the long ones. With names, --changed or --long, runs the tests that they
choose, and no static checks.

  NAME          the test files whose path contains this, for example e2e/dashboard or server/media
  --changed     the test files that depend on files that changed since the last push
  --since REF   the same since this commit, for example main
  --long        the tests that load a server for a minute or more, and those of accounts and programs on two servers of
                one database; they run before a release
  --servers N   so many servers of one database behind a balancer, wherever a test has one
  --seed N      the number that random tests start from, as a failed test prints it
  --times FILE  write how long each file took to this file, as JSON
  --help        show this help`

/** Started first, so that nothing waits for them at the end: the slowest ones, the slowest of them first. */
const slow: readonly string[] = [
  'test/integration/described-requests.test.ts',
  'test/postgres/failover.test.ts',
  'test/e2e/dashboard-camera.test.ts',
  'test/e2e/track-changes.test.ts',
  'test/integration/places.test.ts',
  'test/e2e/dashboard.test.ts',
  'test/audit/cluster.test.ts',
  'test/audit/audit.test.ts',
  'test/integration/bucket.test.ts',
  'test/e2e/dashboard-live.test.ts',
  'test/integration/packet-loss.test.ts',
  'test/integration/events.test.ts',
  'test/e2e/audio-toggling.test.ts',
  'test/integration/rare-key-frames.test.ts',
  'test/e2e/live-track-changes.test.ts',
  'test/e2e/sign-in-accessible.test.ts',
]

/** These judge what a server or a browser does in time, or encode live: one at a time, and all others give way to it. */
const timed: readonly string[] = [
  'server/decoder/decoder.test.ts',
  'test/e2e/formats.test.ts',
  'test/e2e/bad-lines.test.ts',
  'test/e2e/live-start.test.ts',
  'test/integration/hostile-cameras.test.ts',
  'test/integration/hundred-cameras.test.ts',
  'test/attacks/crowd.test.ts',
]

/** These add addresses to their network. Browsers that are in the same one then give up what they are loading. */
const apart: ReadonlySet<string> = new Set(['test/e2e/bad-lines.test.ts'])

/** Load, crowds and long waits: docs/design/tests.md says what each costs, and what proves the same in short. */
const long: readonly string[] = [
  'test/integration/hundred-cameras.test.ts',
  'test/attacks/crowd.test.ts',
  'test/integration/port-scanning.test.ts',
  'test/integration/clock-set-ahead.test.ts',
  'test/integration/stalled-readers.test.ts',
  'test/integration/greedy-viewer.test.ts',
  'test/integration/answer-memory.test.ts',
]

/** Who may do what, which several servers must answer alike: also run on two of them, see test/balanced-servers.ts. */
const ofEachServer: readonly string[] = [
  'test/e2e/foreign-logins.test.ts',
  'test/e2e/main-job.test.ts',
  'test/e2e/passkeys.test.ts',
  'test/e2e/sharing.test.ts',
  'test/e2e/sign-in.test.ts',
  'test/integration/clear-credentials.test.ts',
  'test/integration/consent-password.test.ts',
  'test/integration/event-example.test.ts',
  'test/integration/events.test.ts',
  'test/integration/example-calls.test.ts',
  'test/integration/identity-links.test.ts',
  'test/integration/identity-proofs.test.ts',
  'test/integration/identity-providers.test.ts',
  'test/integration/login-flood.test.ts',
  'test/integration/oauth-clients.test.ts',
  'test/integration/password-stays.test.ts',
  'test/integration/sdk.test.ts',
  'test/integration/second-factor.test.ts',
  'test/integration/token-power.test.ts',
]

const { values, positionals: names } = readArguments()
if (values.help) console.log(help)
else await runAll()

async function runAll(): Promise<void> {
  const tests = chooseTests()
  if (tests.length === 0) {
    console.log('No test depends on the changed files.')
    return
  }
  const first = timed.filter((file) => tests.includes(file))
  const unit = new Set(findTests(unitTests).filter((file) => tests.includes(file) && !first.includes(file)))
  const others = [...new Set([...slow, ...tests])].filter(
    (file) => tests.includes(file) && !unit.has(file) && !first.includes(file),
  )
  if (values.servers !== undefined) process.env.NIGHTJAR_TEST_SERVERS = values.servers
  if (values.seed !== undefined) process.env.NIGHTJAR_TEST_SEED = values.seed
  if (others.length + first.length > 0) {
    try {
      ensureTestPackages()
    } catch (error) {
      console.error((error as Error).message)
      process.exit(1)
    }
  }
  const counts = { passed: 0, failed: 0 }
  const runs = new TestRuns(counts, apart)
  const sources = isPart() ? readSources() : new Map<string, string>()
  const needs = (service: string) => !isPart() || values.long || findAffectedTests(tests, [service], sources).length > 0
  const [postgres, browser] = await Promise.all([
    needs('test/postgres/temporary-postgres.ts') ? sharePostgres() : undefined,
    needs('test/e2e/browser.ts') ? shareChromium() : undefined,
  ])
  if (isPart()) console.log(`${tests.length} test files`)
  else await runStaticChecks(counts)
  const shared = others.filter((file) => sharesProcess(readFileSync(file, 'utf8')))
  const batches = [...divide('servers', shared, 4), ...divide('unit tests', [...unit], 6)]
  await runs.run({ batches, files: others.filter((file) => !shared.includes(file)), first })
  if (values.long && names.length === 0) {
    process.env.NIGHTJAR_TEST_SERVERS = '2'
    await runs.run({ files: ofEachServer })
  }
  await Promise.all([browser?.close(), postgres?.close()])
  await runs.checkServices()
  console.log(`\n${runs.describeTimes(10)}`)
  if (values.times !== undefined) runs.writeTimes(values.times)
  // Told again here, because whoever looks for the reason looks at the end first.
  for (const { title, text } of runs.failures) console.log(`\n✖ ${title}\n${text}`)
  finish(counts)
}

/** Whether a test file has servers in its own process and starts none, so that others can run after it there. */
function sharesProcess(text: string): boolean {
  return /\b(openServerHere|openEmptyServer)\b/.test(text) && !/\b(openServer|openServerWith)\b/.test(text)
}

function isPart(): boolean {
  return names.length > 0 || values.long || values.changed || values.since !== undefined
}

/** Long tests only by name or with --long. Exits if no test has the name. */
function chooseTests(): string[] {
  let tests = findTests('{contract,server,sdk,web,scripts,bench,test}/**/*.test.ts')
  if (names.length > 0) tests = tests.filter((file) => names.some((name) => file.includes(name)))
  if (names.length === 0 || values.long) tests = tests.filter((file) => long.includes(file) === values.long)
  if (tests.length === 0) {
    console.error(`No test file has ${names.join(' or ')} in its path.`)
    process.exit(2)
  }
  if (!values.changed && values.since === undefined) return tests
  return findAffectedTests(tests, listChangedFiles(values.since), readSources())
}

/** Exits if there are arguments that are not in `help`. */
function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        changed: { type: 'boolean', default: false },
        since: { type: 'string' },
        long: { type: 'boolean', default: false },
        servers: { type: 'string' },
        seed: { type: 'string' },
        times: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
    if (values.seed !== undefined && !/^\d{1,10}$/.test(values.seed))
      throw new Error(`--seed takes a number, not ${values.seed}`)
    if (values.servers !== undefined && !/^[1-9]$/.test(values.servers))
      throw new Error(`--servers takes a number from 1 to 9, not ${values.servers}`)
    return { values, positionals }
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${help}`)
    process.exit(2)
  }
}

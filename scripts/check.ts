// npm run check: format, lint, types, floors, documentation and the unit tests.

import { finish, runStaticChecks, runTests, sharePostgres } from './steps.ts'

const counts = { passed: 0, failed: 0 }
runStaticChecks(counts)
const postgres = await sharePostgres()
await runTests(
  { patterns: ['{contract,server,sdk,web,scripts,bench}/**/*.test.ts'], concurrency: 2, timeoutMs: 60_000 },
  counts,
)
await postgres?.close()
finish(counts)

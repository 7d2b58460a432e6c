// npm test: everything. Sets up what the tests need, then static checks, unit, integration and end-to-end tests.

import { shareChromium } from '../test/e2e/browser.ts'
import { findTests, finish, runStaticChecks, runTests, sharePostgres, unitTests } from './steps.ts'
import { ensureTestPackages } from './test-packages.ts'

if (process.argv.length > 2) {
  console.error(
    'npm test takes no options: it runs everything, for some minutes. One file: node_modules/.bin/node --test FILE',
  )
  process.exit(2)
}
try {
  ensureTestPackages()
} catch (error) {
  console.error((error as Error).message)
  process.exit(1)
}
const counts = { passed: 0, failed: 0 }
const postgres = await sharePostgres()
const browser = await shareChromium()

await runStaticChecks(counts)
await runTests({ files: findTests(unitTests), concurrency: 4, timeoutMs: 120_000, isBatched: true }, counts)
// These tests run a dozen encoders in real time, or account for every frame, so nothing else runs beside them.
const encoding = ['test/e2e/formats.test.ts', 'test/e2e/containers.test.ts', 'test/audit/audit.test.ts']
await runTests({ files: encoding, concurrency: 1, timeoutMs: 300_000 }, counts)
// These tests run whole servers and browsers, wait more than they compute, and assert no speeds.
const browsers = findTests('test/e2e/*.test.ts', encoding)
const servers = findTests('test/**/*.test.ts', [...encoding, ...browsers])
await Promise.all([
  runTests({ files: browsers, concurrency: 2, timeoutMs: 180_000 }, counts),
  runTests({ files: servers, concurrency: 2, timeoutMs: 180_000 }, counts),
])
await browser.close()
await postgres?.close()
finish(counts)

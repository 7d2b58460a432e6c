// The short form of `npm run faults`: everything that happens to cameras, once or twice, but nothing twice to one of them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeRun } from './describe-run.ts'
import { runFaults } from './fault-run.ts'

test('after each of sixty-four faults footage goes on by itself, with the right reason and valid files', async (t) => {
  const seed = Number(process.env.NIGHTJAR_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
  t.diagnostic(`seed ${seed}; npm test -- faults --seed ${seed} repeats it`)
  const report = await runFaults({ cameras: 64, rounds: 1, seed, withLong: false, probedFiles: 30, say: () => {} })
  assert.equal(report.outcomes.length, 64, describeRun(report))
  assert.deepEqual(report.complaints, [], describeRun(report))
})

// The short form of `npm run cluster`: under a minute of faults of three servers and what they share.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findPostgres } from '../postgres/temporary-postgres.ts'
import { whyNoStore } from '../s3/s3-store.ts'
import { runAudit } from './audit-run.ts'
import { describeAudit, sumUp } from './describe-audit.ts'

const faults = ['n1', 'n2', 'n3', 'database', 'store: down', 'connection reset', 'camera restarted']

test('with three servers, each picture is in the recording once, whichever is killed, paused or drained', {
  skip: findPostgres() === undefined ? 'PostgreSQL is not installed' : whyNoStore(),
  timeout: 290_000,
}, async (t) => {
  const seed = Number(process.env.NIGHTJAR_TEST_SEED ?? 39)
  const report = await runAudit({ seconds: 45, seed, cameras: 3, only: faults, hasServers: true, say: () => {} })
  const text = describeAudit(report)
  t.diagnostic(text)
  const { sent, recorded, untold, doubled, falseGaps } = sumUp(report).totals
  assert.ok(sent > 300 && recorded > sent / 3, text)
  assert.deepEqual({ untold, doubled, falseGaps }, { untold: 0, doubled: 0, falseGaps: 0 }, text)
  const { orphans, missingObjects } = report.places!
  assert.deepEqual(
    { orphans, missingObjects, complaints: report.complaints },
    { orphans: 0, missingObjects: 0, complaints: [] },
  )
})

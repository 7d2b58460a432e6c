// The short form of `npm run s3`: half a minute of faults of disks and store while recordings are moved.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { whyNoStore } from '../s3/s3-store.ts'
import { runAudit } from './audit-run.ts'
import { describeAudit, sumUp } from './describe-audit.ts'

const faults = ['store', 'second disk', 'server killed', 'connection reset', 'camera restarted', 'rejected with 503']

test('on two disks and in a bucket, each picture is in the recording once, whatever is moved, cut off or killed', {
  skip: whyNoStore(),
}, async (t) => {
  const seed = Number(process.env.NIGHTJAR_TEST_SEED ?? 35)
  const report = await runAudit({ seconds: 30, seed, cameras: 3, only: faults, hasPlaces: true, say: () => {} })
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

// The short form of `npm run cluster`: under a minute of faults of three servers and what they share.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { findPostgres } from '../postgres/temporary-postgres.ts'
import { whyNoStore } from '../s3/s3-store.ts'

const faults = ['n1', 'n2', 'n3', 'database', 'store: down', 'connection reset', 'camera restarted']

test('with three servers, each picture is in the recording once, whichever is killed, paused or drained', {
  skip: findPostgres() === undefined ? 'PostgreSQL is not installed' : whyNoStore(),
}, async (t) => {
  const seed = process.env.NIGHTJAR_TEST_SEED ?? '39'
  const options = ['--seconds', '45', '--seed', seed, '--cameras', '3', '--only', faults.join()]
  const audit = spawn(process.execPath, ['scripts/audit.ts', '--servers', '--json', ...options])
  const [told, json, [code]] = await Promise.all([text(audit.stderr), text(audit.stdout), once(audit, 'exit')])
  t.diagnostic(told)
  assert.equal(code, 0, told)
  const { sent, recorded, orphans, missingObjects } = JSON.parse(json)
  assert.deepEqual({ orphans, missingObjects }, { orphans: 0, missingObjects: 0 }, told)
  assert.ok(sent > 300 && recorded > sent / 3, told)
})

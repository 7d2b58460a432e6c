// A short version of `npm run attack -- crowd`.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runCrowd } from './crowd-run.ts'

test('T33: while an account, a guest and a stranger attack at once, no frame is lost, the owner is served, and the memory is freed afterwards', {
  skip: process.platform !== 'linux',
}, async (t) => {
  const report = await runCrowd({
    ...{ seconds: 12, cameras: 4, memoryMiB: 512, restMs: 4000 },
    say: (text) => t.diagnostic(text),
  })
  t.diagnostic(JSON.stringify(report))
  assert.deepEqual(report.complaints, [])
  assert.ok(report.frames.due > 1000)
  assert.ok(report.honest.count > 20)
  // Each attacker was admitted and did something.
  assert.equal(Object.keys(report.attacks).length, 10)
  for (const [name, answers] of Object.entries(report.attacks)) {
    const times = Object.values(answers).reduce((sum, each) => sum + each, 0)
    assert.ok(times >= 5, `${name}: ${JSON.stringify(answers)}`)
  }
  assert.ok((report.attacks['the account: long lists']![200] ?? 0) > 10)
  assert.ok((report.attacks['the guest: images of every width']![200] ?? 0) > 5)
})

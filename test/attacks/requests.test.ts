// A short version of `npm run attack -- requests`.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { attackKinds } from './attack.ts'
import { runRequests } from './request-run.ts'

test('T42, T43: 2,000 malicious requests cause no failure, leak or change nothing, and leave no memory in use', {
  skip: process.platform !== 'linux',
}, async (t) => {
  const seed = Number(process.env.NIGHTJAR_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
  t.diagnostic(`seed ${seed}; npm test -- attacks/requests --seed ${seed} repeats it`)
  const report = await runRequests({
    ...{ seed, count: 2000, atOnce: 16, only: undefined, restMs: 2000 },
    say: (text) => t.diagnostic(text),
  })
  assert.deepEqual(report.complaints, [])
  assert.equal(report.attacks, 2000)
  assert.ok(report.honest.count > 10)
  // If every attack of a kind were refused at once, the run would prove little.
  for (const kind of attackKinds) {
    const { attacks, statuses } = report.kinds[kind]!
    assert.ok(attacks > 40, kind)
    assert.ok(Object.keys(statuses).length >= 3, `${kind}: ${JSON.stringify(statuses)}`)
  }
  const { attacks, statuses } = report.kinds.description!
  const told = JSON.stringify(statuses)
  const answered = Object.values(statuses).reduce((sum, each) => sum + each, 0)
  // A response can be lost if the machine stands still for as long as the server lets a client read why it is refused.
  assert.ok(attacks - answered <= attacks / 100, `${attacks}, ${told}`)
  assert.ok(report.changes > 0 && statuses[200]! > 50 && statuses[404]! > 50, `${report.changes}, ${told}`)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Backoff } from './retry.ts'

test('delays double up to the limit, jittered between half and all, and start over after a reset', () => {
  for (const random of [() => 0, () => 0.999]) {
    const backoff = new Backoff({ minMs: 1000, maxMs: 60_000, random })
    let full = 1000
    for (let i = 0; i < 50; i++) {
      const ms = backoff.nextMs()
      assert.ok(ms >= full / 2 && ms <= full, `${ms} in [${full / 2}, ${full}]`)
      full = Math.min(60_000, full * 2)
    }
    backoff.reset()
    assert.ok(backoff.nextMs() <= 1000)
  }
})

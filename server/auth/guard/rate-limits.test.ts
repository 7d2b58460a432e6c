import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TestClock } from '../../../test/support/test-clock.ts'
import { RateLimits } from './rate-limits.ts'

test('requests are counted per account across its applications, and per block of IP addresses', () => {
  const limits = new RateLimits({ apiPerMinute: 10, tokenPerMinute: 5, clock: new TestClock() })
  const caller = {
    userId: 1,
    credentialsVersion: 1,
    scopes: new Set<string>(),
    credential: { kind: 'personal', id: 1 } as const,
  }
  assert.equal(limits.takeCaller(caller)!.remaining, 9)
  assert.equal(limits.takeCaller({ ...caller, credential: { kind: 'personal', id: 2 } })!.remaining, 8)
  assert.equal(limits.takeCaller({ ...caller, applicationId: 7 })!.remaining, 7)
  assert.equal(limits.takeCaller({ ...caller, userId: 2 })!.remaining, 9)
  assert.equal(limits.takeAddress('2001:db8::1')!.remaining, 9)
  assert.equal(limits.takeAddress('2001:db8::2')!.remaining, 8)
  limits.giveBackAddress('2001:db8::3')
  assert.equal(limits.takeAddress('2001:db8::4')!.remaining, 8)
  assert.equal(limits.takeToken('2001:db8::1')!.remaining, 4)
})

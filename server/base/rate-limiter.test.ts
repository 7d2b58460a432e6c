import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { TestClock } from '../../test/support/test-clock.ts'
import { RateLimitError, RateLimiter } from './rate-limiter.ts'

test('as many requests as the limit pass at once, then one per interval', () => {
  const clock = new TestClock()
  const limiter = new RateLimiter<string>({ limit: 30, clock })
  assert.deepEqual(limiter.take('a'), { limit: 30, windowSeconds: 60, remaining: 29, resetSeconds: 2 })
  for (let left = 28; left >= 0; left--) assert.equal(limiter.take('a')!.remaining, left)
  assert.throws(
    () => limiter.take('a'),
    (error: RateLimitError) => {
      assert.ok(error instanceof RateLimitError)
      assert.deepEqual([error.kind, error.retryAfterSeconds], ['rate_limited', 2])
      assert.deepEqual(error.rate, { limit: 30, windowSeconds: 60, remaining: 0, resetSeconds: 60 })
      return true
    },
  )
  assert.equal(limiter.take('b')!.remaining, 29)
  clock.skip(1999)
  assert.throws(() => limiter.take('a'), { kind: 'rate_limited' })
  clock.skip(1)
  assert.equal(limiter.take('a')!.remaining, 0)
  clock.skip(60_000)
  assert.equal(limiter.take('a')!.remaining, 29)
  limiter.giveBack('a')
  assert.equal(limiter.take('a')!.remaining, 29)
})

test('the window may be longer than a minute', () => {
  const clock = new TestClock()
  const limiter = new RateLimiter<string>({ limit: 2, windowMs: 3_600_000, clock })
  limiter.take('a')
  assert.deepEqual(limiter.take('a'), { limit: 2, windowSeconds: 3600, remaining: 0, resetSeconds: 3600 })
  assert.throws(() => limiter.take('a'), { retryAfterSeconds: 1800 })
  clock.skip(1_800_000)
  assert.equal(limiter.take('a')!.remaining, 0)
})

test('no minute has more than twice the limit, and a caller that waits as long as the error says passes', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 200 }),
      fc.array(fc.integer({ min: 0, max: 5000 }), { maxLength: 400 }),
      (perMinute, pauses) => {
        const clock = new TestClock()
        const limiter = new RateLimiter<string>({ limit: perMinute, clock })
        const granted: number[] = []
        for (const pause of pauses) {
          clock.skip(pause)
          try {
            const { remaining } = limiter.take('a')!
            assert.ok(remaining >= 0 && remaining < perMinute)
            granted.push(clock.nowMs())
          } catch (error) {
            clock.skip((error as RateLimitError).retryAfterSeconds! * 1000)
            limiter.take('a')
            granted.push(clock.nowMs())
          }
        }
        for (const [index, atMs] of granted.entries()) {
          const inMinute = granted.slice(index).filter((each) => each < atMs + 60_000)
          assert.ok(inMinute.length <= 2 * perMinute)
        }
      },
    ),
  )
})

test('a limit of 0 is no limit, and memory is bounded', () => {
  const clock = new TestClock()
  assert.equal(new RateLimiter({ limit: 0, clock }).take('a'), undefined)
  const limiter = new RateLimiter<number>({ limit: 10, clock, maxKeys: 100 })
  for (let key = 0; key < 1000; key++) limiter.take(key)
  assert.ok(limiter.size <= 100)
  assert.equal(limiter.take(999)!.remaining, 8)
})

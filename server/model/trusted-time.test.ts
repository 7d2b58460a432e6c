import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { confirmationMs, TrustedTime, trustedStepMs } from './trusted-time.ts'

const startMs = 1_700_000_000_000
const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

/** A server that looks each minute. */
function run() {
  let nowMs = startMs
  let time = new TrustedTime(nowMs)
  return {
    get time() {
      return time
    },
    get nowMs() {
      return nowMs
    },
    set(ms: number) {
      nowMs += ms
    },
    pass(ms: number) {
      for (let leftMs = ms; leftMs > 0; leftMs -= minuteMs) {
        nowMs += minuteMs
        time.update(nowMs, minuteMs)
      }
    },
    restart(afterMs: number) {
      const { kept } = time
      nowMs += afterMs
      time = new TrustedTime(nowMs, JSON.parse(JSON.stringify(kept)))
    },
  }
}

test('a clock that passes as time does is believed, over restarts too', () => {
  const server = run()
  for (let i = 0; i < 50; i++) {
    server.pass(hourMs)
    assert.deepEqual([server.time.ms, server.time.aheadMs], [server.nowMs, 0])
    server.set(i % 2 === 0 ? 2000 : -2000)
    server.restart(5 * minuteMs)
    assert.equal(server.time.ms, server.nowMs)
  }
})

test('a clock set ahead is believed after a day; until then time goes on as it did', () => {
  for (const stepMs of [hourMs, 30 * dayMs, 3650 * dayMs]) {
    const server = run()
    server.set(stepMs)
    server.pass(23 * hourMs)
    assert.deepEqual([server.time.ms, server.time.aheadMs], [startMs + 23 * hourMs, stepMs])
    server.restart(minuteMs)
    assert.equal(server.time.aheadMs, stepMs + minuteMs)
    server.pass(59 * minuteMs)
    assert.ok(server.time.aheadMs > 0)
    server.pass(2 * minuteMs)
    assert.deepEqual([server.time.ms, server.time.aheadMs], [server.nowMs, 0])
  }
})

test('a clock that was put right again has deleted nothing', () => {
  const server = run()
  server.set(365 * dayMs)
  server.pass(20 * hourMs)
  server.set(-365 * dayMs)
  server.pass(minuteMs)
  assert.deepEqual([server.time.ms, server.time.aheadMs], [startMs + 20 * hourMs + minuteMs, 0])
})

test('a clock set back deletes less at once, and nothing too early when it is put right', () => {
  const server = run()
  server.set(-30 * dayMs)
  server.pass(hourMs)
  assert.equal(server.time.ms, server.nowMs)
  server.set(30 * dayMs)
  server.pass(minuteMs)
  assert.equal(server.time.ms, server.nowMs)
  // Kept for longer than a day it was right to be set back: what comes after that is a step again.
  server.set(-30 * dayMs)
  server.pass(2 * dayMs)
  server.set(30 * dayMs)
  server.pass(minuteMs)
  assert.equal(server.time.aheadMs, 30 * dayMs)
})

test('a step just before a step is believed does not come in with it', () => {
  const server = run()
  server.set(hourMs)
  server.pass(23 * hourMs + 50 * minuteMs)
  server.set(365 * dayMs)
  server.pass(hourMs)
  assert.equal(server.time.aheadMs, 365 * dayMs)
  server.pass(dayMs)
  assert.equal(server.time.aheadMs, 0)
})

test('a machine that is off, or sleeps, each night lags a little more than a night behind at most', () => {
  const server = run()
  let worstMs = 0
  for (let day = 0; day < 60; day++) {
    server.pass(14 * hourMs)
    worstMs = Math.max(worstMs, server.time.aheadMs)
    if (day % 2 === 0) server.restart(10 * hourMs)
    else server.set(10 * hourMs)
  }
  assert.ok(worstMs >= 10 * hourMs && worstMs <= 30 * hourMs, `${worstMs / hourMs} h`)
})

test('whatever is done to the clock, time never gains more than the time that passed, but for what was confirmed', () => {
  const step = fc.record({
    stepMs: fc.oneof(fc.constant(0), fc.integer({ min: -400 * dayMs, max: 400 * dayMs })),
    passMs: fc.integer({ min: 1, max: 30 * hourMs }),
    isRestart: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      let nowMs = startMs
      let time = new TrustedTime(nowMs)
      let sinceGainMs = 0
      for (const { stepMs, passMs, isRestart } of steps) {
        nowMs += stepMs
        if (isRestart) time = new TrustedTime(nowMs, time.kept)
        const beforeMs = time.kept.timeMs
        nowMs += passMs
        sinceGainMs += passMs
        time.update(nowMs, passMs)
        assert.ok(time.ms <= nowMs && time.aheadMs >= 0 && time.remainingMs > 0)
        if (time.kept.timeMs <= beforeMs + passMs + trustedStepMs) continue
        assert.ok(sinceGainMs >= confirmationMs, 'confirmed for a day')
        sinceGainMs = 0
      }
      for (let i = 0; i < 100; i++) {
        nowMs += hourMs
        time.update(nowMs, hourMs)
      }
      assert.deepEqual([time.ms, time.aheadMs], [nowMs, 0])
    }),
    { numRuns: 1000 },
  )
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from './clock.ts'
import { StartClock } from './start-clock.ts'

const dayMs = 86_400_000
const knownMs = Date.UTC(2026, 10, 20, 12)

/** A machine whose clock shows `nowMs` and is set by the test. */
function startMachine(nowMs: number) {
  const machine = { ...systemClock, ms: nowMs, sharedMs: 5_000_000, nowMs: () => machine.ms }
  const sharedMs = () => machine.sharedMs
  const pass = (ms: number) => {
    machine.ms += ms
    machine.sharedMs += ms
  }
  const clock = new StartClock(machine, undefined, sharedMs)
  return { machine, pass, clock, sharedMs }
}

test('a clock that begins in 1970 continues from the known time until it is set, in every thread', () => {
  const { machine, pass, clock, sharedMs } = startMachine(12_000)
  assert.equal(clock.notBefore(knownMs - 30 * dayMs), false)
  assert.equal(clock.nowMs(), knownMs - 30 * dayMs)
  pass(1000.25)
  assert.equal(clock.nowMs(), knownMs - 30 * dayMs + 1000)
  assert.equal(clock.notBefore(knownMs), false)
  assert.equal(clock.notBefore(knownMs - 30 * dayMs), false)
  assert.equal(clock.nowMs(), knownMs)
  pass(90_000)
  assert.equal(clock.nowMs(), knownMs + 90_000)
  const inThread = new StartClock(machine, clock.start, sharedMs)
  assert.equal(inThread.nowMs(), knownMs + 90_000)
  machine.ms = knownMs + 21 * dayMs
  assert.deepEqual([clock.nowMs(), inThread.nowMs(), clock.start], [machine.ms, machine.ms, undefined])
  // Whatever happens to it from now on was done by somebody.
  machine.ms = 12_000
  assert.equal(clock.nowMs(), 12_000)
})

test('a clock that is behind by hours was corrected, and one that stays in the past for a day is meant', () => {
  const corrected = startMachine(knownMs - dayMs / 2)
  assert.equal(corrected.clock.notBefore(knownMs), true)
  assert.equal(corrected.clock.nowMs(), knownMs - dayMs / 2)
  const { machine, pass, clock } = startMachine(knownMs - 400 * dayMs)
  assert.equal(clock.notBefore(knownMs), false)
  pass(dayMs - 1)
  assert.equal(clock.nowMs(), knownMs + dayMs - 1)
  pass(1)
  assert.equal(clock.nowMs(), machine.ms)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Clock } from './clock.ts'
import { supervise } from './supervise.ts'

function fakeClock(): Clock & { slept: number[] } {
  let now = 0
  const slept: number[] = []
  return {
    slept,
    nowMs: () => now,
    monotonicMs: () => now,
    async sleep(ms) {
      slept.push(ms)
      now += ms
    },
  }
}

test('a failing run is restarted with growing delays until the signal aborts', async () => {
  const controller = new AbortController()
  const clock = fakeClock()
  const failures: string[] = []
  let runs = 0
  await supervise(
    async () => {
      if (++runs === 4) controller.abort()
      throw new Error(`run ${runs}`)
    },
    {
      signal: controller.signal,
      clock,
      random: () => 0.5,
      onFailure: (error) => failures.push((error as Error).message),
    },
  )
  assert.deepEqual(failures, ['run 1', 'run 2', 'run 3'])
  assert.deepEqual(clock.slept, [750, 1500, 3000])
})

test('a run that lasted a minute resets the delays', async () => {
  const controller = new AbortController()
  const clock = fakeClock()
  let runs = 0
  await supervise(
    async () => {
      runs++
      if (runs === 3) await clock.sleep(60_000)
      if (runs === 5) controller.abort()
      throw new Error('lost')
    },
    { signal: controller.signal, clock, random: () => 0.5, onFailure: () => {} },
  )
  assert.deepEqual(clock.slept, [750, 1500, 60_000, 750, 1500])
})

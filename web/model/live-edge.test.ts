// The player is simulated: it plays what has arrived at the rate it is told, and stands still where there is nothing.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LiveEdge, type LiveEdgeOptions } from './live-edge.ts'

type Scene = {
  readonly frameMs: number
  readonly seconds: number
  /** Of the camera's clock, in parts per million. */
  readonly driftPpm?: number
  readonly lateMs?: (ms: number) => number
  readonly startBehind?: number
  readonly isHeard?: boolean
  readonly player?: LiveEdgeOptions
}

function simulate(scene: Scene) {
  const { frameMs, seconds, driftPpm = 0, lateMs = () => 0, startBehind = 0.1, isHeard = false, player = {} } = scene
  const { takesEveryMs = 10 } = player
  const edge = new LiveEdge(player)
  const behind: { ms: number; seconds: number }[] = []
  let position = 0
  let rate = 1
  let changes = 0
  let jumps = 0
  let arrived = 0
  let taken = 0
  let next = { atMs: lateMs(0), seconds: 0 }
  let isStarted = false
  let stillMs = 0
  for (let ms = 0; ms < seconds * 1000; ms += 10) {
    while (next.atMs <= ms) {
      arrived = next.seconds
      edge.note(next.atMs, arrived)
      if (!isStarted) position = arrived - startBehind
      isStarted = true
      const dueMs = (next.seconds * 1000 + frameMs) * (1 + driftPpm / 1e6)
      next = { atMs: Math.max(next.atMs, dueMs + lateMs(dueMs)), seconds: next.seconds + frameMs / 1000 }
    }
    if (!isStarted) continue
    const before = position
    if (ms % takesEveryMs === 0) taken = arrived
    position = Math.min(taken + frameMs / 1000, position + rate / 100)
    if (ms > 30_000 && position === before) stillMs += 10
    // Of what the camera has taken, whether it arrived or not.
    behind.push({ ms, seconds: ms / 1000 / (1 + driftPpm / 1e6) - position })
    if (ms % 250 !== 0) continue
    const step = edge.decide(ms, position, isHeard)
    if (step?.kind === 'jump') {
      position = arrived - edge.targetSeconds
      rate = 1
      jumps++
    } else if (step) {
      rate = step.rate
      changes++
    }
  }
  const p95 = (fromMs: number) => {
    const sorted = behind
      .filter(({ ms }) => ms >= fromMs)
      .map(({ seconds }) => seconds)
      .sort((a, b) => a - b)
    return sorted[Math.floor(sorted.length * 0.95)]!
  }
  return { p95, changes, jumps, stillMs, targetSeconds: edge.targetSeconds }
}

test('it stays within 0.3 s for ten minutes, whatever the clock of the camera does', () => {
  for (const frameMs of [20, 40, 100]) {
    for (const driftPpm of [0, 100, -100, 1000]) {
      const { p95, changes, jumps } = simulate({ frameMs, driftPpm, seconds: 600 })
      assert.ok(p95(10_000) <= 0.3, `${frameMs} ms, ${driftPpm} ppm: ${p95(10_000)} s`)
      assert.ok(changes <= 120, `${changes} changes`)
      assert.equal(jumps, 0)
    }
  }
})

test('a player with one speed that takes data ten times a second jumps instead, and hardly ever stands still', () => {
  const player = { takesEveryMs: 100, hasOneSpeed: true }
  for (const driftPpm of [0, 100, -100]) {
    const { p95, changes, jumps, stillMs } = simulate({
      ...{ frameMs: 40, driftPpm, seconds: 600, player },
      startBehind: 0.25,
    })
    assert.ok(p95(10_000) <= 0.35, `${driftPpm} ppm: ${p95(10_000)} s`)
    assert.deepEqual([changes, jumps], [0, 0])
    assert.ok(stillMs <= 100, `${driftPpm} ppm: still for ${stillMs} ms`)
  }
  const late = simulate({ ...{ frameMs: 40, seconds: 60, player }, startBehind: 0.6 })
  assert.equal(late.jumps, 1)
  assert.ok(late.p95(5000) <= 0.3, `${late.p95(5000)} s`)
  const lateMs = (ms: number) => Math.max(0, 1000 - (ms % 60_000))
  const { jumps, p95 } = simulate({ ...{ frameMs: 40, seconds: 600, lateMs, player }, startBehind: 0.25 })
  assert.ok(jumps >= 8 && jumps <= 12, `${jumps} jumps`)
  assert.ok(p95(10_000) <= 0.6, `${p95(10_000)} s`)
})

test('what a stall has cost is caught up', () => {
  // Nothing arrives for a second each minute, then all at once.
  const lateMs = (ms: number) => Math.max(0, 1000 - (ms % 60_000))
  for (const isHeard of [false, true]) {
    const { p95, changes } = simulate({ frameMs: 40, seconds: 600, lateMs, isHeard })
    assert.ok(p95(10_000) <= (isHeard ? 0.95 : 0.75), `${p95(10_000)} s`)
    assert.ok(changes <= 120, `${changes} changes`)
  }
})

test('far behind, it jumps, and not again and again', () => {
  const { p95, jumps } = simulate({ frameMs: 40, seconds: 60, startBehind: 10 })
  assert.equal(jumps, 1)
  assert.ok(p95(2000) <= 0.3)
})

test('an uneven line makes it stay further behind, with limits', () => {
  const uneven = (ms: number) => (Math.floor(ms / 40) % 5 === 0 ? 120 : 0)
  const steady = simulate({ frameMs: 40, seconds: 60 }).targetSeconds
  const { targetSeconds } = simulate({ frameMs: 40, seconds: 60, lateMs: uneven })
  assert.ok(targetSeconds > steady)
  assert.equal(simulate({ frameMs: 1000, seconds: 60 }).targetSeconds, 0.25)
})

test('a camera that sends whole groups of pictures is played without standing still', () => {
  const lateMs = (ms: number) => 4000 - (ms % 4000)
  const { jumps, stillMs, p95 } = simulate({ frameMs: 40, seconds: 120, lateMs })
  assert.ok(stillMs < 1000, `${stillMs} ms`)
  assert.ok(jumps <= 6, `${jumps} jumps`)
  assert.ok(p95(30_000) < 9, `${p95(30_000)} s`)
})

test('one outage of a line that stands still again and again does not make it stay as far behind', () => {
  const outage = { fromMs: 40_000, ms: 10_000 }
  const lateMs = (ms: number) =>
    ms >= outage.fromMs && ms < outage.fromMs + outage.ms
      ? outage.fromMs + outage.ms - ms
      : Math.max(0, 800 - (ms % 10_000))
  const { targetSeconds } = simulate({ frameMs: 40, seconds: 70, lateMs })
  assert.ok(targetSeconds > 0.8 && targetSeconds < 1, `${targetSeconds} s`)
})

test('what the decoder was late at the beginning is made up for within two seconds', () => {
  const { p95, jumps, stillMs } = simulate({ frameMs: 40, seconds: 60, startBehind: 0.6 })
  assert.ok(p95(2500) <= 0.2, `${p95(2500)} s`)
  assert.deepEqual([jumps, stillMs], [0, 0])
  assert.ok(simulate({ frameMs: 40, seconds: 60, startBehind: 0.6, isHeard: true }).p95(6000) <= 0.2)
})

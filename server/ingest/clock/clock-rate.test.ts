import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AudioClock } from './audio-clock.ts'
import { WallClock } from './wall-clock.ts'

const startMs = 1_700_000_000_000
const hourMs = 3_600_000

/** Reproducible noise in [0, 1). */
function createNoise(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

type Scene = {
  /** The frame rate in the camera's timestamps, and the real one at a time. */
  readonly nominal: number
  readonly findReal: (hour: number) => number
  readonly hours: number
  readonly ppm: number
  /** Network stalls of up to 3 s, per second. */
  readonly stalls?: number
  readonly jitterMs?: number
  readonly seed: number
}

/**
 * Checks at each key frame whether it must begin a run. `worstAxisMs`: the greatest difference between the length of a
 * run and real time.
 */
function play({ nominal, findReal, hours, ppm, stalls = 0, jitterMs = 10, seed }: Scene) {
  const noise = createNoise(seed)
  const clock = new WallClock()
  const result = { runs: 0, worstMs: 0, worstAxisMs: 0, hasRetimed: false }
  let trueMs = 0
  let timestamp = 0
  let arrivalMs = 0
  let stalledMs = 0
  let zeroMs = 0
  for (let i = 0; trueMs < hours * hourMs; i++) {
    const real = findReal(trueMs / hourMs)
    if (i > 0) {
      trueMs += 1000 / real
      timestamp += (90_000 / nominal) * (1 + ppm / 1e6)
    }
    if (noise() < stalls / real) stalledMs = trueMs + noise() * 3000
    // TCP keeps the order.
    arrivalMs = Math.max(arrivalMs, trueMs + 2 + noise() * jitterMs, stalledMs)
    clock.map(Math.round(timestamp), startMs + arrivalMs)
    if (i % (nominal * 2) === 0 && clock.isRunDue) {
      clock.beginRun()
      result.runs++
      zeroMs = trueMs
    }
    result.worstMs = Math.max(result.worstMs, Math.abs(clock.wallMs - startMs - trueMs))
    result.worstAxisMs = Math.max(result.worstAxisMs, Math.abs(clock.pts90k / 90 - (trueMs - zeroMs)))
    result.hasRetimed ||= clock.rate !== 1
  }
  return result
}

const rates = [5, 8, 10, 12.5, 15, 20, 24, 25, 30, 50, 60]

for (const nominal of [5, 10, 15, 25, 30, 60]) {
  test(`cameras that stamp ${nominal} frames/s and send from 5 to 60: one run, on time, with and without stalls`, () => {
    for (const [i, real] of rates.entries()) {
      const ppm = [-500, 0, 500][i % 3]!
      for (const stalls of [0, 1 / 120]) {
        const result = play({ nominal, findReal: () => real, hours: 0.5, ppm, stalls, seed: i * 7 + nominal })
        const what = `${real} frames/s${stalls ? ' with stalls' : ''}: ${JSON.stringify(result)}`
        assert.equal(result.runs, 1, what)
        assert.ok(result.worstMs < 500, what)
        assert.equal(result.hasRetimed, real !== nominal, what)
        // While a rate is new, frames last at most three times as long as their timestamps say. The run has its real
        // length once that has been made up for.
        if (real < nominal) assert.ok(result.worstAxisMs < 2000, what)
      }
    }
  })
}

for (const [day, night] of [
  [25, 12.5],
  [25, 5],
  [60, 5],
  [25, 24],
  [30, 15],
] as const) {
  test(`days of a camera that stamps ${day} frames/s and sends ${night} at night, at once or gradually, are one run on time`, () => {
    const switched = (hour: number) => (hour % 24 < 16 ? day : night)
    const gradual = (hour: number) => night + (day - night) * (0.5 + 0.5 * Math.cos((hour * Math.PI) / 3))
    for (const findReal of [switched, gradual]) {
      const scene = { nominal: day, findReal, hours: 24, ppm: day === 25 ? 500 : -500, stalls: 1 / 600, seed: night }
      const result = play(scene)
      assert.equal(result.runs, 1, JSON.stringify(result))
      assert.ok(result.worstMs < 500, JSON.stringify(result))
    }
  })
}

test('cameras with a low frame rate that suddenly send fewer frames than they stamp and then recover are on time', () => {
  for (const nominal of [5, 8, 10, 15]) {
    for (const factor of [1.3, 1.6, 2, 2.5, 3]) {
      // Three minutes at the stamped rate and two minutes at the other one.
      const findReal = (hour: number) => nominal / ((hour * 60) % 5 < 3 ? 1 : factor)
      for (const jitterMs of [5, 30]) {
        const result = play({ nominal, findReal, hours: 1, ppm: 50, jitterMs, seed: nominal + factor * 10 })
        const what = `${factor} times fewer, jitter of ${jitterMs} ms: ${JSON.stringify({ nominal, ...result })}`
        assert.equal(result.runs, 1, what)
        assert.ok(result.worstMs < 500, what)
      }
    }
  }
})

test('a network stall during a change of the rate delays the measurement by a few seconds at most', () => {
  for (const nominal of [5, 10, 15, 25]) {
    for (const factor of [1.6, 2, 2.5, 2.9]) {
      for (const changeMs of [0, 40_000]) {
        for (let fromMs = changeMs + 200; fromMs < changeMs + 4000; fromMs += 290) {
          const toMs = fromMs + 4700
          const clock = new WallClock()
          const noise = createNoise(fromMs)
          let trueMs = 0
          let arrivalMs = 0
          let worstMs = 0
          for (let i = 0; trueMs < toMs + 30_000; i++) {
            if (i > 0) trueMs += (1000 / nominal) * (trueMs < changeMs ? 1 : factor)
            const comesMs = trueMs + 2 + noise() * 8
            arrivalMs = Math.max(arrivalMs, comesMs >= fromMs && comesMs < toMs ? toMs : comesMs)
            clock.map(i * (90_000 / nominal), startMs + arrivalMs)
            if (i % nominal === 0 && clock.isRunDue) clock.beginRun()
            if (trueMs > toMs + 8000) worstMs = Math.max(worstMs, Math.abs(clock.wallMs - startMs - trueMs))
          }
          assert.ok(worstMs < 500, `${worstMs} ms: ${JSON.stringify({ nominal, factor, changeMs, fromMs })}`)
        }
      }
    }
  }
})

test('a day of a camera with an accurate clock is not retimed, whatever the network does', () => {
  for (const [jitterMs, ppm] of [
    [10, -500],
    [50, 500],
    [150, -500],
  ] as const) {
    const result = play({ nominal: 25, findReal: () => 25, hours: 24, ppm, stalls: 1 / 10, jitterMs, seed: jitterMs })
    const what = JSON.stringify({ jitterMs, ppm, ...result })
    assert.deepEqual([result.runs, result.hasRetimed], [1, false], what)
    assert.ok(result.worstMs < jitterMs + 20, what)
  }
})

test('frames that the stream reorders keep their order and spacing at a measured rate', () => {
  const clock = new WallClock()
  const noise = createNoise(3)
  const shown: number[] = []
  let lastDts90k = -1
  for (let i = 0; i < 12.5 * 600; i++) {
    // I P B B P B B …, stamped 25 frames/s, sent at 12.5.
    const inGroup = i % 25
    const place = inGroup === 0 ? i : inGroup % 3 === 1 ? i + 2 : i - 1
    clock.map(place * 3600, startMs + i * 80 + 160 + noise() * 10)
    if (inGroup === 0 && clock.isRunDue) clock.beginRun({ depth: 1, maxDepth: 4, frameRate: 25 })
    assert.ok(clock.dts90k > lastDts90k && clock.dts90k <= clock.pts90k, `${clock.dts90k} for ${clock.pts90k}`)
    lastDts90k = clock.dts90k
    if (i > 1000) shown[place - 1000] = clock.pts90k
  }
  assert.deepEqual([clock.reorderedFrames, clock.jumps], [0, 0])
  const steps = shown.slice(2, -30).map((pts90k, i) => pts90k - shown[i + 1]!)
  assert.ok(Math.min(...steps) > 80 * 90 * 0.9 && Math.max(...steps) < 80 * 90 * 1.1)
})

test('audio stays aligned with video that is stamped at a wrong rate, with and without sender reports', () => {
  for (const real of [12.5, 40]) {
    for (const hasReports of [false, true]) {
      const video = new WallClock()
      const audio = new AudioClock(video)
      const noise = createNoise(real)
      let worstMs = 0
      let frames = 0
      for (let ms = 0; ms < 1_800_000; ms += 40) {
        for (; (frames * 1000) / real <= ms; frames++) {
          video.map(frames * 3600, startMs + (frames * 1000) / real + noise() * 10)
          if (frames === 0) {
            video.beginRun()
            audio.alignTo(7_000_000, 0)
          } else assert.ok(!video.isRunDue)
        }
        // The camera reports its video clock, which is wrong.
        if (hasReports && ms % 5000 === 0) audio.follow(7_000_000 + ms, (ms * real) / 25)
        if (!audio.map(7_000_000 + ms, startMs + ms + noise() * 10)) continue
        const lateMs = audio.pts90k / 90 + video.toMediaMs(0) + video.offsetMs - startMs - ms
        if (ms > 10_000) worstMs = Math.max(worstMs, Math.abs(lateMs))
      }
      assert.ok(worstMs < 100, `${real} frames/s, reports ${hasReports}: ${worstMs} ms`)
    }
  }
})

test('a camera that sends fewer frames than it stamps for only a few seconds is on time afterwards', () => {
  for (let seed = 1; seed <= 400; seed++) {
    const noise = createNoise(seed)
    const slow = 4.5 + noise() * 4.5
    const untilHour = (1 + noise() * 5) / 3600
    const findReal = (hour: number) => (hour < untilHour ? slow : 10)
    const { worstMs } = play({ nominal: 10, findReal, hours: 20 / 3600, ppm: 0, seed })
    assert.ok(worstMs < 500, `seed ${seed}, ${slow} frames/s: ${worstMs} ms`)
  }
})

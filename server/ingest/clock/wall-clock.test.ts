import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { WallClock } from './wall-clock.ts'

/** Reproducible noise in [0, 1). */
function createNoise(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

const startMs = 1_700_000_000_000

for (const ppm of [-100, 0, 100]) {
  test(`a day with a camera clock off by ${ppm} ppm and a jittery network stays within 50 ms`, () => {
    const clock = new WallClock()
    const noise = createNoise(ppm + 1000)
    let worstMs = 0
    let lastPts90k = -1
    let lastWallMs = 0
    let arrivalMs = 0
    const frames = 24 * 3600 * 25
    for (let i = 0; i < frames; i++) {
      const trueMs = startMs + i * 40
      // At least 2 ms, mostly less than 12 ms, and now and then a stall of up to 700 ms. TCP keeps the order.
      const delayMs = 2 + noise() * 10 + (noise() < 0.002 ? noise() * 700 : 0)
      arrivalMs = Math.max(arrivalMs, trueMs + delayMs)
      clock.map(Math.round(i * 3600 * (1 + ppm / 1e6)), arrivalMs)
      if (i === 0) clock.beginRun()
      assert.ok(!clock.isRunDue)
      assert.ok(clock.pts90k > lastPts90k && clock.wallMs >= lastWallMs)
      lastPts90k = clock.pts90k
      lastWallMs = clock.wallMs
      if (i > 60 * 25) worstMs = Math.max(worstMs, Math.abs(clock.wallMs - trueMs))
    }
    assert.ok(worstMs < 5, `worst error ${worstMs} ms`)
  })
}

test('the delay of buffered frames at the start is corrected within the first seconds', () => {
  const clock = new WallClock()
  // The camera had buffered 400 ms.
  for (let i = 0; i < 25 * 25; i++) {
    clock.map(i * 3600, startMs + Math.max(0, i * 40 - 400))
    if (i === 0) clock.beginRun()
  }
  assert.ok(Math.abs(clock.wallMs - (startMs + 624 * 40 - 400)) < 5)
})

test('a network stall does not change times and does not begin a run', () => {
  const clock = new WallClock()
  for (let i = 0; i < 1000; i++) {
    const isStalled = i >= 500 && i < 700
    clock.map(i * 3600, startMs + (isStalled ? 700 : i) * 40)
    if (i === 0) clock.beginRun()
    assert.equal(clock.pts90k, i * 3600)
    assert.ok(!clock.isRunDue)
    assert.ok(Math.abs(clock.wallMs - (startMs + i * 40)) <= 45)
  }
  assert.equal(clock.jumps, 0)
})

for (const jumpMs of [-3_600_000, -5000, -1000, 5000, 3_600_000]) {
  test(`a jump of the camera's clock by ${jumpMs} ms makes a new run due, and time continues until then`, () => {
    const clock = new WallClock()
    let lastPts90k = -1
    let isBegun = false
    for (let i = 0; i < 300; i++) {
      clock.map(10_000_000_000 + i * 3600 + (i >= 110 ? jumpMs * 90 : 0), startMs + i * 40)
      if (i === 0) clock.beginRun()
      if (i % 50 === 0 && i > 0 && clock.isRunDue) {
        assert.equal(clock.beginRun(), true)
        isBegun = true
        lastPts90k = -1
      }
      assert.ok(clock.pts90k > lastPts90k)
      lastPts90k = clock.pts90k
      assert.ok(Math.abs(clock.wallMs - (startMs + i * 40)) <= 1100, `frame ${i}: ${clock.wallMs - startMs - i * 40}`)
    }
    assert.equal(clock.jumps, 1)
    assert.ok(isBegun)
    assert.equal(clock.pts90k, 149 * 3600)
  })
}

test('a clock that jumps in a pause of many seconds leaves the frames after it at their times', () => {
  // Also one whose rate was learned, and is right again after the pause.
  for (const { jumpMs, rate } of [
    { jumpMs: -3_600_000, rate: 1 },
    { jumpMs: 3_600_000, rate: 1 },
    { jumpMs: 0, rate: 2.08 },
  ]) {
    const clock = new WallClock(0, rate)
    for (let i = 0; i < 300; i++) {
      const trueMs = startMs + i * 40 + (i >= 200 ? 6300 : 0)
      const stampedMs = i < 200 ? (i * 40) / rate : (200 * 40) / rate + 6300 + (i - 200) * 40 + jumpMs
      clock.map(10_000_000_000 + Math.round(stampedMs * 90), trueMs)
      if (i === 0) clock.beginRun()
      const errorMs = clock.wallMs - trueMs
      assert.ok(
        Math.abs(errorMs) <= (rate === 1 || i < 200 ? 130 : 500),
        `${jumpMs}, ${rate}: frame ${i} is ${errorMs} ms off`,
      )
      if (rate !== 1 && i > 220) break
    }
  }
})

test('a run that begins at the frame with which the clock jumps, after a pause, begins at the right time', () => {
  const clock = new WallClock()
  for (let i = 0; i < 200; i++) {
    const trueMs = startMs + i * 40 + (i >= 100 ? 3500 : 0)
    clock.map(10_000_000_000 + (trueMs - startMs) * 90 - (i >= 100 ? 3_600_000 * 90 : 0), trueMs)
    // The size of the images changes.
    if (i === 0 || i === 100) clock.beginRun()
    assert.ok(Math.abs(clock.wallMs - trueMs) <= 130, `frame ${i}: ${clock.wallMs - trueMs}`)
  }
})

test('reordered timestamps are made strictly increasing and are counted', () => {
  const clock = new WallClock()
  const seen: number[] = []
  for (const [i, position] of [0, 3, 1, 2, 6, 4, 5, 7].entries()) {
    clock.map(position * 3600, startMs + i * 40)
    if (i === 0) clock.beginRun()
    seen.push(clock.pts90k)
  }
  // They take their own time where there is room.
  assert.deepEqual(seen, [0, 10_800, 14_400, 18_000, 21_600, 25_200, 28_800, 28_801])
  assert.equal(clock.reorderedFrames, 4)
  assert.equal(clock.isRunDue, false)
})

test('frames that the stream reorders keep their own times, and the wall clock never goes back', () => {
  const clock = new WallClock()
  const noise = createNoise(7)
  let lastDts90k = -1
  let lastWallMs = 0
  for (let i = 0; i < 25 * 60; i++) {
    // I P B B P B B … with a key frame every 25 frames. Each frame is sent when it is encoded, two frames after it was
    // captured.
    const inGroup = i % 25
    const place = inGroup === 0 ? i : inGroup % 3 === 1 ? i + 2 : i - 1
    clock.map(place * 3600, startMs + i * 40 + 80 + noise() * 10)
    if (i === 0) clock.beginRun({ depth: 1, maxDepth: 4, frameRate: 25 })
    assert.equal(clock.pts90k, 3600 + place * 3600)
    assert.ok(clock.dts90k > lastDts90k && clock.dts90k <= clock.pts90k, `${clock.dts90k} for ${clock.pts90k}`)
    assert.ok(clock.wallMs >= lastWallMs)
    lastDts90k = clock.dts90k
    lastWallMs = clock.wallMs
    assert.ok(Math.abs(clock.wallMs - startMs - place * 40 - 40) <= 130)
  }
  assert.deepEqual([clock.reorderedFrames, clock.jumps, clock.isRunDue], [0, 0, false])
})

test('B-frames of a camera with a wrong clock rate keep their display order', () => {
  for (const perSecond of [7, 11, 13.3, 15, 17, 24]) {
    const clock = new WallClock()
    const noise = createNoise(perSecond)
    const shown: { timestamp: number; pts90k: number }[] = []
    let arrivalMs = startMs
    for (let i = 0; i < 15 * 120; i++) {
      const inGroup = i % 15
      const place = inGroup === 0 ? i : inGroup % 3 === 1 ? Math.min(i + 2, i - inGroup + 14) : i - 1
      // Some cameras have a variable rate.
      arrivalMs += (1000 / perSecond) * (i % 300 > 150 ? 1.2 : 0.9) + noise() * 20 - 10
      clock.map(place * 6000, arrivalMs)
      if (i === 0 || (inGroup === 0 && clock.isRunDue)) {
        clock.beginRun({ depth: 1, maxDepth: 4, frameRate: 15 })
        shown.length = 0
      }
      shown.push({ timestamp: place * 6000, pts90k: clock.pts90k })
      for (const { timestamp, pts90k } of shown.slice(-8, -1)) {
        const isOrdered = Math.sign(timestamp - place * 6000) === Math.sign(pts90k - clock.pts90k)
        assert.ok(
          isOrdered,
          `${perSecond}/s, frame ${i}: ${timestamp} at ${pts90k}, ${place * 6000} at ${clock.pts90k}`,
        )
      }
    }
  }
})

test('B-frames of an encoder that stands still now and then keep their display order', () => {
  const groups = [[2, 1], [3, 1, 2], [4, 2, 1, 3], [8, 4, 2, 1, 3, 6, 5, 7]] // biome-ignore format: one line
  for (let seed = 0; seed < 200; seed++) {
    const noise = createNoise(seed * 7919)
    for (let i = 0; i < 5; i++) noise()
    const group = groups[seed % groups.length]!
    const perSecond = [5, 8, 12, 25][Math.floor(noise() * 4)]!
    const ticks = 90_000 / perSecond
    const order = { depth: Math.floor(Math.log2(group.length)), maxDepth: 4, frameRate: perSecond }
    const clock = new WallClock()
    let sentMs = 0
    let slowness = 0
    let changesMs = 0
    let shown: { place: number; pts90k: number }[] = []
    for (let i = 0, captured = 0; captured < perSecond * 40; i++) {
      const isKey = i % 4 === 0
      const before = captured
      captured += isKey ? 1 : group.length
      for (const each of isKey ? [1] : group) {
        const place = before + each
        sentMs = Math.max(sentMs, captured * (ticks / 90))
        if (sentMs >= changesMs) {
          slowness = noise() < 0.5 ? 0.1 : noise() * 4
          changesMs = sentMs + noise() * 4000
        }
        sentMs += slowness * (ticks / 90) * (0.3 + 1.4 * noise())
        clock.map(place * ticks, startMs + sentMs)
        if (isKey && clock.isRunDue) {
          clock.beginRun(order)
          shown = []
        }
        for (const other of shown.slice(-16)) {
          const isOrdered = Math.sign(other.place - place) === Math.sign(other.pts90k - clock.pts90k)
          assert.ok(isOrdered, `seed ${seed}: ${other.place} at ${other.pts90k}, ${place} at ${clock.pts90k}`)
        }
        shown.push({ place, pts90k: clock.pts90k })
      }
    }
  }
})

test('single frames with timestamps that are hours off are moved into place and do not begin a run', () => {
  for (const strayMs of [-9_800_000, 37_600_000, 5000, -5000]) {
    const clock = new WallClock()
    for (let i = 0; i < 500; i++) {
      const isStray = i > 0 && i % 50 === 0
      clock.map(10_000_000_000 + i * 3600 + (isStray ? strayMs * 90 : 0), startMs + i * 40 + (i % 7))
      if (i === 0) clock.beginRun()
      assert.ok(!clock.isRunDue, `frame ${i}`)
      assert.ok(Math.abs(clock.pts90k - i * 3600) <= 10 * 90, `frame ${i} at ${clock.pts90k - i * 3600}`)
    }
    assert.deepEqual([clock.jumps, clock.reorderedFrames], [0, 9])
  }
})

test('both times of a run only increase, whatever a camera sends', () => {
  const step = fc.record({
    ticks: fc.oneof(fc.constant(3600), fc.integer({ min: -400_000, max: 400_000 }), fc.integer()),
    ms: fc.oneof(fc.constant(40), fc.integer({ min: 0, max: 20_000 })),
    isKey: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), fc.option(fc.nat(4), { nil: undefined }), (steps, depth) => {
      const order = { depth, maxDepth: depth ?? 4, frameRate: undefined }
      const clock = new WallClock(startMs)
      let timestamp = 0
      let arrivalMs = startMs
      clock.map(0, arrivalMs)
      clock.beginRun(order)
      let lastDts90k = 0
      let lastWallMs = clock.wallMs
      for (const { ticks, ms, isKey } of steps) {
        timestamp += ticks
        arrivalMs += ms
        clock.map(timestamp, arrivalMs)
        if (isKey && clock.isRunDue) clock.beginRun(order)
        assert.ok(clock.dts90k > lastDts90k || clock.dts90k === 0)
        assert.ok(depth !== 0 || clock.pts90k === clock.dts90k)
        assert.ok(Number.isSafeInteger(clock.pts90k) && clock.wallMs >= lastWallMs)
        lastDts90k = clock.dts90k
        lastWallMs = clock.wallMs
      }
    }),
  )
})

test('a clock that steps by less than two seconds leaves every frame at its time', () => {
  for (const stepMs of [-1900, -1000, -500, -300, 400, 700, 1000, 1900]) {
    for (const [framesPerSecond, groupMs, atSeconds, setSeconds = Number.POSITIVE_INFINITY] of [
      [25, 2000, 20],
      [10, 4000, 20],
      [5, 2000, 20],
      // Soon after the camera was connected.
      [25, 2000, 1],
      [10, 1000, 1],
      [25, 2000, 0.08],
      [10, 1000, 0],
      // The system's clock is set soon after: a run begins at the next key frame, whatever the camera's clock does.
      [15, 1000, 20.5, 20.6],
      [15, 1000, 20.9, 20.95],
    ] as const) {
      const clock = new WallClock()
      const frameMs = 1000 / framesPerSecond
      let lastPts90k = -1
      let axisMs = 0
      let isSet = false
      for (let i = 0, beganMs = 0; i < framesPerSecond * 40; i++) {
        const ms = i * frameMs
        const isStepped = i >= framesPerSecond * atSeconds + 3
        clock.map(Math.round((ms + (isStepped ? stepMs : 0)) * 90), startMs + ms)
        if (ms - beganMs >= groupMs || i === 0) {
          beganMs = ms
          const isSetNow: boolean = !isSet && ms >= setSeconds * 1000
          isSet ||= isSetNow
          if (clock.isRunDue || isSetNow) {
            clock.beginRun()
            lastPts90k = -1
            axisMs = ms
          }
        }
        const where = `${stepMs} ms at ${framesPerSecond}/s after ${atSeconds} s, frame ${i}`
        assert.ok(clock.pts90k > lastPts90k, where)
        lastPts90k = clock.pts90k
        assert.ok(Math.abs(clock.wallMs - startMs - ms) <= 130, `${where}: ${clock.wallMs - startMs - ms} ms`)
        // Players date frames by the axis.
        const shownMs = axisMs + clock.pts90k / 90
        assert.ok(Math.abs(shownMs - ms) <= 300, `${where}: shown ${shownMs - ms} ms late`)
      }
    }
  }
})

test('one timestamp that is off by less than two seconds moves only its frame', () => {
  for (const offMs of [-1500, -400, 400, 1500]) {
    const clock = new WallClock()
    for (let i = 0; i < 500; i++) {
      const ms = i * 40
      clock.map((ms + (i === 300 ? offMs : 0)) * 90, startMs + ms)
      if (i === 0) clock.beginRun()
      assert.equal(clock.isRunDue, false)
      if (i !== 300) assert.ok(Math.abs(clock.pts90k - ms * 90) <= 2, `${offMs}: frame ${i} at ${clock.pts90k / 90}`)
      else assert.ok(Math.abs(clock.pts90k - ms * 90) <= 3600)
    }
  }
})

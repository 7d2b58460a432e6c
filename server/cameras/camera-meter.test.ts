import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noCounters } from '../model/camera-figures.ts'
import { CameraMeter, type LossReport } from './camera-meter.ts'

const t0 = 1_800_000_000_000

function open() {
  const time = { ms: 0 }
  const reports: LossReport[] = []
  const meter = new CameraMeter({
    clock: { nowMs: () => t0 + time.ms, monotonicMs: () => time.ms, sleep: async () => {} },
    onLoss: (report) => reports.push(report),
  })
  const counters = { ...noCounters }
  /** Reports like a worker, every five seconds: a camera with 4 Mbit/s, 25 frames and 400 packets per second. */
  const run = (seconds: number, lostPart = 0) => {
    for (let s = 0; s < seconds; s += 5) {
      time.ms += 5000
      counters.receivedBytes += 2_500_000
      counters.packets += 2000 * (1 - lostPart)
      counters.lostPackets += 2000 * lostPart
      counters.videoFrames += 125
      meter.take({ clockRate: 1, deviations: new Set(), ...counters })
    }
  }
  return { time, reports, meter, counters, run }
}

test('rates cover the last minute, and there are none without frames', () => {
  const { time, meter, run } = open()
  assert.equal(meter.figures(), undefined)
  meter.take({ clockRate: 1, deviations: new Set(), ...noCounters })
  assert.equal(meter.figures()?.frameRate, undefined)
  run(300)
  const { bitRate, frameRate, packetLoss, sinceMs, videoFrames } = meter.figures()!
  assert.deepEqual([bitRate, frameRate, packetLoss, sinceMs, videoFrames], [4e6, 25, 0, t0, 7500])
  time.ms += 20_000
  meter.take({ clockRate: 1, deviations: new Set(), ...noCounters, videoFrames: 7500 })
  assert.equal(meter.figures()?.bitRate, undefined)
})

test('counts before the first report are in no rate', () => {
  const { time, meter, counters, run } = open()
  run(5)
  time.ms += 5000
  counters.videoFrames += 125
  meter.take({ clockRate: 1, deviations: new Set(), ...counters })
  assert.equal(meter.figures()!.frameRate, 25)
  assert.equal(meter.figures()!.videoFrames, 250)
})

test('counters continue when a worker crashes and its replacement counts from zero', () => {
  const { meter, counters, run } = open()
  run(60)
  Object.assign(counters, noCounters)
  run(60)
  const { videoFrames, frameRate } = meter.figures()!
  assert.deepEqual([videoFrames, frameRate], [3000, 25])
})

test('losses of the last ten minutes count, older ones do not', () => {
  const { meter, run } = open()
  run(60, 0.1)
  assert.ok(Math.abs(meter.figures()!.packetLoss! - 0.1) < 0.02)
  run(660)
  assert.equal(meter.figures()!.packetLoss, 0)
  assert.equal(meter.figures()!.lostPackets, 2400)
})

test('high and low loss are reported, but not what is in between or a time without packets', () => {
  const { meter, reports, run } = open()
  run(120, 0.02)
  assert.ok(reports.length > 5 && reports.every(({ isLosing }) => isLosing))
  assert.equal(meter.isLosing, true)
  run(60, 0.005)
  reports.length = 0
  run(60, 0.005)
  assert.deepEqual(reports, [])
  assert.equal(meter.isLosing, false)
  run(120)
  assert.deepEqual([...new Set(reports.slice(-3).map(({ isLosing }) => isLosing))], [false])
  const silent = open()
  for (let i = 0; i < 60; i++) {
    silent.time.ms += 5000
    silent.meter.take({ clockRate: 1, deviations: new Set(), ...noCounters })
  }
  assert.deepEqual(silent.reports, [])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLogger } from './base/log.ts'
import { FigureKeeper, type LossReport } from './figure-keeper.ts'
import { noCounters } from './model/camera-figures.ts'

const t0 = 1_800_000_000_000

function open() {
  const time = { ms: 0 }
  const reports: LossReport[] = []
  const keeper = new FigureKeeper({
    rows: { write: async () => {} },
    clock: { nowMs: () => t0 + time.ms, monotonicMs: () => time.ms, sleep: async () => {} },
    log: silentLogger,
    onLoss: (report) => reports.push(report),
  })
  const counters = { ...noCounters }
  /** As a worker reports, each five seconds: a camera of 4 Mbit/s, 25 pictures and 400 packets a second. */
  const run = (seconds: number, lostPart = 0) => {
    for (let s = 0; s < seconds; s += 5) {
      time.ms += 5000
      counters.receivedBytes += 2_500_000
      counters.packets += 2000 * (1 - lostPart)
      counters.lostPackets += 2000 * lostPart
      counters.videoFrames += 125
      keeper.take([{ cameraId: 1, clockRate: 1, ...counters }])
    }
  }
  return { time, reports, keeper, counters, run }
}

test('rates are those of the last minute, and none while no pictures come', () => {
  const { time, keeper, run } = open()
  assert.equal(keeper.find(1), undefined)
  keeper.take([{ cameraId: 1, clockRate: 1, ...noCounters }])
  assert.equal(keeper.find(1)?.frameRate, undefined)
  run(300)
  const { bitRate, frameRate, packetLoss, sinceMs, videoFrames } = keeper.find(1)!
  assert.deepEqual([bitRate, frameRate, packetLoss, sinceMs, videoFrames], [4e6, 25, 0, t0, 7500])
  time.ms += 20_000
  keeper.take([{ cameraId: 1, clockRate: 1, ...noCounters, videoFrames: 7500 }])
  assert.equal(keeper.find(1)?.bitRate, undefined)
})

test('what was counted before the first report is in no rate', () => {
  const { time, keeper, counters, run } = open()
  run(5)
  time.ms += 5000
  counters.videoFrames += 125
  keeper.take([{ cameraId: 1, clockRate: 1, ...counters }])
  assert.equal(keeper.find(1)!.frameRate, 25)
  assert.equal(keeper.find(1)!.videoFrames, 250)
})

test('counters go on when a worker dies and another one counts from zero', () => {
  const { keeper, counters, run } = open()
  run(60)
  Object.assign(counters, noCounters)
  run(60)
  const { videoFrames, frameRate } = keeper.find(1)!
  assert.deepEqual([videoFrames, frameRate], [3000, 25])
})

test('losses of the last ten minutes count, older ones do not', () => {
  const { keeper, run } = open()
  run(60, 0.1)
  assert.ok(Math.abs(keeper.find(1)!.packetLoss! - 0.1) < 0.02)
  run(660)
  assert.equal(keeper.find(1)!.packetLoss, 0)
  assert.equal(keeper.find(1)!.lostPackets, 2400)
})

test('much loss is reported, and little; what is in between is not, nor a time without anything', () => {
  const { keeper, reports, run, time } = open()
  run(120, 0.02)
  assert.ok(reports.length > 5 && reports.every(({ isLosing }) => isLosing))
  assert.equal(keeper.stats().losing, 1)
  run(60, 0.005)
  reports.length = 0
  run(60, 0.005)
  assert.deepEqual(reports, [])
  assert.equal(keeper.stats().losing, 0)
  run(120)
  assert.deepEqual([...new Set(reports.slice(-3).map(({ isLosing }) => isLosing))], [false])
  reports.length = 0
  for (let i = 0; i < 60; i++) {
    time.ms += 5000
    keeper.take([{ cameraId: 2, clockRate: 1, ...noCounters }])
  }
  assert.deepEqual(reports, [])
})

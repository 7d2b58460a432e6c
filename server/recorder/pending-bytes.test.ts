import assert from 'node:assert/strict'
import { test } from 'node:test'
import { oneTarget } from '../../test/support/archive/one-place.ts'
import { syntheticFormat } from '../../test/support/media/synthetic-frames.ts'
import { ByteBudget } from '../base/byte-budget.ts'
import { type Clock, systemClock } from '../base/clock.ts'
import { silentLogger } from '../base/log.ts'
import { PendingBytes } from './pending-bytes.ts'
import { CameraRecorder } from './recorder.ts'
import type { RecordingDisk } from './recording-disk.ts'

const megabyte = 2 ** 20
const frameMs = 40

/** A disk in simulated time that writes a number of bytes per second, and nothing while it stalls. */
class SlowDisk implements RecordingDisk {
  nowMs = 0
  bytesPerMs = Number.POSITIVE_INFINITY
  stalledUntilMs = 0
  #busyUntilMs = 0
  #waiting: { readonly atMs: number; readonly go: () => void }[] = []

  readonly clock: Clock = { ...systemClock, monotonicMs: () => this.nowMs }

  async createFile() {
    return {
      write: (buffers: readonly Uint8Array[]) => this.#take(buffers.reduce((sum, { length }) => sum + length, 0)),
      truncate: async () => {},
      sync: () => this.#take(0),
      close: async () => {},
    }
  }
  async removeFile() {}
  async syncFolder() {}

  /** Advances the time. */
  async advance(ms: number): Promise<void> {
    this.nowMs += ms
    for (const each of this.#waiting.splice(0)) {
      if (each.atMs <= this.nowMs) each.go()
      else this.#waiting.push(each)
    }
    await new Promise(setImmediate)
  }

  #take(bytes: number): Promise<void> {
    const beginMs = Math.max(this.nowMs, this.#busyUntilMs, this.stalledUntilMs)
    this.#busyUntilMs = beginMs + bytes / this.bytesPerMs
    if (this.#busyUntilMs <= this.nowMs) return Promise.resolve()
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.push({ atMs: this.#busyUntilMs, go: resolve })
    return promise
  }
}

/** Records cameras with these bit rates on one disk with one budget. */
function openScene(disk: SlowDisk, budgetBytes: number, megabitsPerSecond: readonly number[]) {
  const pendingBudget = new ByteBudget(budgetBytes)
  const events = {
    segmentOpened: () => {},
    fragmentWritten: () => {},
    segmentClosed: () => {},
    segmentBroken: () => {},
    statusChanged: () => {},
    gapChanged: () => {},
  }
  const recorders = megabitsPerSecond.map((_, cameraId) => {
    const recorder = new CameraRecorder({
      ...{
        cameraId,
        targets: oneTarget('/archive', disk),
        clock: disk.clock,
        log: silentLogger,
        events,
        pendingBudget,
      },
    })
    recorder.push({ kind: 'start', runId: 'run', format: syntheticFormat() })
    return recorder
  })
  const frames = megabitsPerSecond.map((rate) => new Uint8Array((rate * 1e6 * frameMs) / 8000))
  let frame = 0
  const play = async (ms: number) => {
    for (const endMs = disk.nowMs + ms; disk.nowMs < endMs; frame++) {
      for (const [i, recorder] of recorders.entries()) {
        const time90k = frame * frameMs * 90
        const data = frames[i]!
        recorder.push({
          ...{ kind: 'video', data, pts90k: time90k, dts90k: time90k, wallMs: disk.nowMs, isKey: frame % 25 === 0 },
        })
      }
      await disk.advance(frameMs)
    }
  }
  const dropped = () => recorders.map((recorder) => recorder.stats().droppedFrames)
  const close = async () => {
    disk.stalledUntilMs = 0
    disk.bytesPerMs = Number.POSITIVE_INFINITY
    const closing = Promise.all(recorders.map((recorder) => recorder.close()))
    for (let i = 0; i < 1000; i++) await disk.advance(1000)
    await closing
    assert.equal(pendingBudget.usedBytes, 0, 'no bytes are held at the end')
  }
  return { recorders, pendingBudget, play, dropped, close }
}

test('a camera with 40 Mbit/s survives a disk that stalls for four seconds', async () => {
  const disk = new SlowDisk()
  const { play, dropped, close } = openScene(disk, 256 * megabyte, [40, 2])
  await play(5000)
  disk.stalledUntilMs = disk.nowMs + 4000
  await play(10_000)
  assert.deepEqual(dropped(), [0, 0])
  await close()
})

test("a camera that exceeds the disk's speed loses frames, and others do not", async () => {
  const disk = new SlowDisk()
  const { play, dropped, pendingBudget, recorders, close } = openScene(disk, 48 * megabyte, [200, 4, 4, 4])
  await play(3000)
  // All cameras share a disk that stalls repeatedly.
  let maxHeldBytes = 0
  for (let i = 0; i < 5; i++) {
    disk.stalledUntilMs = disk.nowMs + 5000
    await play(4900)
    maxHeldBytes = Math.max(maxHeldBytes, recorders[0]!.stats().pendingBytes)
    assert.ok(pendingBudget.usedBytes <= 48 * megabyte)
    await play(2000)
  }
  const [greedy, ...others] = dropped()
  assert.ok(greedy! > 100, `${greedy} frames dropped`)
  assert.ok(maxHeldBytes <= 24 * megabyte, `${maxHeldBytes} bytes held by one`)
  assert.deepEqual(others, [0, 0, 0])
  await close()
})

test('the last camera gets its share, however many others hold theirs', () => {
  for (const count of [1, 2, 10, 100]) {
    const budget = new ByteBudget(1000 * megabyte)
    const greedy = Array.from({ length: count }, () => new PendingBytes(budget))
    for (const each of greedy) each.learn(1e9, 1000)
    const held = greedy.map(() => 0)
    for (let round = 0; round < 20_000; round++) {
      const i = round % count
      if (held[i]! + megabyte <= greedy[i]!.maxBytes) greedy[i]!.hold((held[i]! += megabyte))
    }
    const late = new PendingBytes(budget)
    late.learn(1e9, 1000)
    const shareBytes = (1000 * megabyte) / (count + 1)
    assert.ok(Math.max(...held) <= shareBytes * 1.5, `${count}: ${Math.max(...held)}`)
    assert.ok(late.maxBytes >= shareBytes / 2 - megabyte, `${count}: ${late.maxBytes}`)
  }
})

test('a rising bit rate is learned immediately, and a falling one slowly', () => {
  const pending = new PendingBytes(new ByteBudget(1000 * megabyte))
  assert.equal(pending.maxBytes, 8 * megabyte)
  pending.learn(5 * megabyte, 1000)
  assert.equal(pending.maxBytes, 40 * megabyte)
  pending.learn(0.1 * megabyte, 1000)
  assert.ok(pending.maxBytes > 38 * megabyte)
  for (let i = 0; i < 300; i++) pending.learn(0.1 * megabyte, 1000)
  assert.equal(pending.maxBytes, 8 * megabyte)
})

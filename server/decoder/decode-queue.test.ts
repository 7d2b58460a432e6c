import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DecodeQueue } from './decode-queue.ts'

type Frame = { readonly source: number | undefined; readonly bytes: number; readonly viewers: ReadonlySet<number> }

const open = (maxPending = 64, maxPendingBytes = 1000) => new DecodeQueue<Frame>({ maxPending, maxPendingBytes })
const any = { isQuickOnly: false }
const quick = { isQuickOnly: true }
const frameOf = (source: number | undefined, bytes = 1): Frame => ({ source, bytes, viewers: new Set() })
const wantedBy = (source: number, ...viewers: number[]): Frame => ({ source, bytes: 1, viewers: new Set(viewers) })
const costOf = (cpuMs: number) => ({ cpuMs, isLost: false })
const lost = { cpuMs: 5000, isLost: true }

/** Finishes a frame of this camera that took this long. */
function serve(queue: DecodeQueue<Frame>, source: number, cpuMs: number, nowMs = 0): void {
  queue.add(frameOf(source))
  const frame = queue.take(nowMs, any)!
  assert.equal(frame.source, source)
  queue.finish(frame, costOf(cpuMs), nowMs)
}

test('cameras get equal processor time, not equal numbers of images', () => {
  const queue = open()
  const costs = new Map([
    [1, 10],
    [2, 10],
    [3, 1000],
  ])
  const served = new Map<number, number>()
  for (let i = 0; i < 210; i++) {
    for (const source of costs.keys()) queue.add(frameOf(source))
    const frame = queue.take(0, any)!
    served.set(frame.source!, (served.get(frame.source!) ?? 0) + 1)
    queue.finish(frame, costOf(costs.get(frame.source!)!), 0)
  }
  assert.deepEqual([...served].toSorted(), [
    [1, 104],
    [2, 104],
    [3, 2],
  ])
})

test('a camera that was idle is served next, but has accumulated no time', () => {
  const queue = open()
  serve(queue, 1, 5)
  for (let i = 0; i < 100; i++) serve(queue, 2, 10)
  for (let i = 0; i < 5; i++) {
    queue.add(frameOf(1))
    queue.add(frameOf(2))
  }
  const turns: (number | undefined)[] = []
  for (let i = 0; i < 6; i++) {
    const frame = queue.take(0, any)!
    turns.push(frame.source)
    queue.finish(frame, costOf(10), 0)
  }
  assert.ok(turns.filter((source) => source === 1).length <= 4, turns.join())
})

test('only one frame of a camera is decoded at a time', () => {
  const queue = open()
  queue.add(frameOf(1))
  queue.add(frameOf(1))
  const first = queue.take(0, any)!
  assert.equal(queue.take(0, any), undefined)
  queue.finish(first, costOf(1), 0)
  assert.ok(queue.take(0, any))
})

test('frames without a camera do not wait for each other', () => {
  const queue = open()
  queue.add(frameOf(undefined))
  queue.add(frameOf(undefined))
  const frames = [queue.take(0, any)!, queue.take(0, any)!]
  for (const frame of frames) assert.deepEqual(queue.finish(frame, lost, 0), [])
})

test('a camera is quick only after a quick frame, and an expensive frame makes it slow for one minute, then two', () => {
  const queue = open()
  queue.add(frameOf(1))
  assert.equal(queue.take(0, quick), undefined, 'it has no history')
  queue.finish(queue.take(0, any)!, costOf(8), 0)
  queue.add(frameOf(1))
  assert.ok(queue.hasQuick(0))
  queue.finish(queue.take(0, quick)!, costOf(700), 0)
  queue.add(frameOf(1))
  assert.equal(queue.take(59_000, quick), undefined)
  assert.ok(queue.hasQuick(60_000))
  queue.finish(queue.take(60_000, quick)!, costOf(700), 60_000)
  queue.add(frameOf(1))
  assert.equal(queue.take(179_000, quick), undefined)
  assert.ok(queue.take(180_000, quick))
})

test('a lost frame blocks its camera for 5 s, then 10 s, at most ten minutes, and drops its waiting frames', () => {
  const queue = open()
  let nowMs = 0
  for (const blockedMs of [5000, 10_000, 20_000, 40_000, 80_000, 160_000, 320_000, 600_000, 600_000]) {
    const second = frameOf(1)
    queue.add(frameOf(1))
    queue.add(second)
    assert.deepEqual(queue.finish(queue.take(nowMs, any)!, lost, nowMs), [second])
    assert.equal(queue.blockedMs(1, nowMs), blockedMs)
    assert.ok(queue.blockedMs(2, nowMs) <= 0)
    nowMs += blockedMs
    assert.equal(queue.blockedMs(1, nowMs), 0)
  }
  assert.equal(queue.length, 0)
})

test('one camera has at most a quarter of the queue', () => {
  const queue = open(8, 1000)
  assert.deepEqual(queue.add(frameOf(1)), [])
  assert.deepEqual(queue.add(frameOf(1)), [])
  const third = frameOf(1)
  assert.deepEqual(queue.add(third), [third])
  assert.deepEqual(queue.add(frameOf(2, 240)), [])
  const large = frameOf(2, 240)
  assert.deepEqual(queue.add(large), [large])
  assert.deepEqual(queue.add(frameOf(3, 700)), [], 'a single frame may be larger than that')
})

test('a full queue drops a frame of the camera that has taken the most time', () => {
  const queue = open(2)
  serve(queue, 1, 5)
  serve(queue, 2, 900)
  const frames = [frameOf(2), frameOf(1)]
  for (const frame of frames) assert.deepEqual(queue.add(frame), [])
  assert.deepEqual(queue.add(frameOf(3)), [frames[0]])
  assert.equal(queue.length, 2)
  assert.equal(queue.add(frameOf(4)).length, 1)
  assert.equal(queue.length, 2)
  assert.equal(queue.drain().length, 2)
  assert.equal(queue.length, 0)
})

test('a viewer that requests a hundred images delays no other viewer, on any camera', () => {
  const queue = open()
  for (let i = 0; i < 5; i++) for (const source of [1, 2, 3]) queue.add(wantedBy(source, 7))
  const first = queue.take(0, any)!
  queue.add(wantedBy(1, 8))
  queue.add(wantedBy(4, 8))
  queue.finish(first, costOf(10), 0)
  const turns: (number | undefined)[] = []
  for (let i = 0; i < 6; i++) {
    const frame = queue.take(0, any)!
    turns.push([...frame.viewers][0])
    queue.finish(frame, costOf(10), 0)
  }
  assert.deepEqual(turns.toSorted().slice(-2), [8, 8])
  assert.ok(turns.lastIndexOf(8) <= 3, turns.join())
})

test('two viewers get equal time, whatever the number of cameras and the cost of their images', () => {
  const queue = open()
  const costs = new Map([
    [1, 40],
    [2, 10],
    [3, 10],
    [4, 10],
  ])
  const spentMs = new Map<number, number>()
  for (let i = 0; i < 400; i++) {
    queue.add(wantedBy(1, 7))
    for (const source of [2, 3, 4]) queue.add(wantedBy(source, 8))
    const frame = queue.take(0, any)!
    const [viewer] = [...frame.viewers]
    const costMs = costs.get(frame.source!)!
    spentMs.set(viewer!, (spentMs.get(viewer!) ?? 0) + costMs)
    queue.finish(frame, costOf(costMs), 0)
  }
  assert.ok(Math.abs(spentMs.get(7)! - spentMs.get(8)!) <= 50, JSON.stringify([...spentMs]))
})

test('an image for several viewers is served in the turn of the viewer with the least time', () => {
  const queue = open()
  const shared = wantedBy(1, 7)
  const running = wantedBy(2, 7)
  queue.add(running)
  queue.finish(queue.take(0, any)!, costOf(50), 0)
  queue.add(shared)
  queue.add(wantedBy(3, 7))
  queue.add(wantedBy(4, 9))
  ;(shared.viewers as Set<number>).add(8)
  assert.deepEqual([queue.take(0, any)!.source, queue.take(0, any)!.source].toSorted(), [1, 4])
})

test('without room, frames of the viewer with the most frames are dropped', () => {
  const queue = open(16)
  const many = Array.from({ length: 4 }, () => wantedBy(1, 7))
  for (const frame of many) assert.deepEqual(queue.add(frame), [])
  assert.deepEqual(queue.add(wantedBy(1, 8)), [many.at(-1)], 'of one camera')
  for (let i = 0; i < 12; i++) queue.add(wantedBy(2 + i, 7))
  assert.equal(queue.length, 16)
  const [dropped] = queue.add(wantedBy(20, 9))
  assert.deepEqual([...dropped!.viewers], [7], 'of all')
  const own = wantedBy(1, 7)
  assert.deepEqual(queue.add(own), [own])
  assert.equal(queue.length, 16)
})

test('the history of cameras is bounded', () => {
  const queue = open()
  serve(queue, -1, 5)
  for (let source = 0; source < 6000; source++) serve(queue, source, 1)
  queue.add(frameOf(-1))
  assert.equal(queue.hasQuick(0), false, 'the first camera is forgotten')
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ByteBudget } from '../base/byte-budget.ts'
import type { Frame } from '../media/frame.ts'
import { FrameMemoryPool } from '../media/frame-memory.ts'
import { CameraHub } from './camera-hub.ts'
import type { HubItem, RunStart } from './hub-item.ts'

const frame = (pts90k: number, isKey: boolean, bytes = 10): Frame => ({
  kind: 'video',
  pts90k,
  dts90k: pts90k,
  wallMs: pts90k / 90,
  isKey,
  data: new Uint8Array(bytes),
})

const start: RunStart = {
  kind: 'start',
  runId: 'r1',
  format: {
    video: { codec: 'h264', width: 16, height: 16, config: new Uint8Array(), codecString: '' },
    audio: undefined,
  },
}

const hubOf = (maxGopBytes = 1000) => new CameraHub({ maxGopBytes, costBytes: 0, onSinkError: () => {} })

function sinkInto(seen: (string | number)[]) {
  return { push: (item: HubItem) => void seen.push('pts90k' in item ? item.pts90k : item.kind) }
}

test('a new reader gets the run and the newest group of pictures', () => {
  const hub = hubOf()
  for (const item of [start, frame(0, true), frame(1, false), frame(2, true), frame(3, false)]) hub.publish(item)
  const seen: (string | number)[] = []
  hub.attach(sinkInto(seen))
  hub.publish(frame(4, false))
  assert.deepEqual(seen, ['start', 2, 3, 4])
})

test('a reader that already has the newest group of pictures waits for the next one', () => {
  const hub = hubOf()
  for (const item of [start, frame(0, true), frame(1, false)]) hub.publish(item)
  const seen: (string | number)[] = []
  hub.attach(sinkInto(seen), { knownGroup: hub.group })
  hub.publish(frame(2, true))
  assert.deepEqual(seen, ['start', 2])
  hub.attach(sinkInto(seen), { knownGroup: hub.group - 1 })
  assert.deepEqual(seen, ['start', 2, 'start', 2])
})

test('a group of pictures over the limit is not kept, but the next one is', () => {
  const hub = hubOf(25)
  for (const item of [start, frame(0, true), frame(1, false), frame(2, false), frame(3, false)]) hub.publish(item)
  assert.equal(hub.stats().gopBytes, 0)
  hub.publish(frame(4, true))
  const seen: (string | number)[] = []
  hub.attach(sinkInto(seen))
  assert.deepEqual(seen, ['start', 4])
})

test('cameras share the byte budget and return it', () => {
  const gopBudget = new ByteBudget(35)
  const [one, two] = [0, 1].map(() => new CameraHub({ gopBudget, costBytes: 0, onSinkError: () => {} }))
  for (const hub of [one!, two!]) for (const item of [start, frame(0, true), frame(1, false)]) hub.publish(item)
  assert.deepEqual([one!.stats().gopBytes, two!.stats().gopBytes], [20, 0])
  one!.publish(frame(2, true))
  for (const item of [frame(3, false), frame(4, true), frame(5, false)]) two!.publish(item)
  assert.deepEqual([one!.stats().gopBytes, two!.stats().gopBytes], [10, 20])
  for (const hub of [one!, two!]) hub.publish({ kind: 'end', reason: 'no_frames' })
  assert.equal(gopBudget.usedBytes, 0)
})

test('readers can get some seconds before the newest group, within the budget', () => {
  const second = 90_000
  const seenBy = (hub: CameraHub, withEarlier: boolean) => {
    const seen: (string | number)[] = []
    hub.attach({ push: (item) => void seen.push('pts90k' in item ? item.pts90k / second : item.kind) }, { withEarlier })
    return seen
  }
  const earlierBudget = new ByteBudget(100_000)
  const hubs = Array.from({ length: 3 }, () => new CameraHub({ earlierBudget, costBytes: 0, onSinkError: () => {} }))
  for (const hub of hubs) hub.publish(start)
  const [one, two, three] = hubs
  for (let at = 0; at <= 30; at++) one!.publish(frame(at * second, at % 2 === 0))
  assert.deepEqual(seenBy(one!, true), ['start', 30], 'nobody has wanted them before')
  assert.deepEqual([seenBy(two!, true), seenBy(three!, true)], [['start'], ['start']])
  for (let at = 31; at <= 40; at++) one!.publish(frame(at * second, at % 2 === 0))
  assert.deepEqual(seenBy(one!, false), ['start', 40])
  assert.deepEqual(seenBy(one!, true), ['start', 32, 33, 34, 35, 36, 37, 38, 39, 40])
  // Rare key frames: a group of 10 s and the next one fit the limit, two groups of 25 s do not.
  for (let at = 0; at <= 41; at++) two!.publish(frame(at * second, at % 10 === 0))
  assert.equal(seenBy(two!, true)[1], 20)
  for (let at = 42; at <= 80; at++) two!.publish(frame(at * second, at % 25 === 0))
  assert.equal(seenBy(two!, true)[1], 75)
  // One camera would keep more than what would be left for others.
  for (let at = 0; at <= 30; at++) three!.publish(frame(at * second, at % 2 === 0, 10_000))
  assert.deepEqual(seenBy(three!, true), ['start', 26, 27, 28, 29, 30])
  for (const hub of hubs) hub.publish({ kind: 'end', reason: 'no_frames' })
  assert.equal(earlierBudget.usedBytes, 0)
})

test('nothing before a discarded frame is kept', () => {
  const earlierBudget = new ByteBudget(1000)
  const hub = new CameraHub({ maxGopBytes: 25, costBytes: 0, earlierBudget, onSinkError: () => {} })
  hub.attach(sinkInto([]), { withEarlier: true })
  for (const item of [start, frame(0, true), frame(1, false), frame(2, true), frame(3, false), frame(4, false)])
    hub.publish(item)
  for (const item of [frame(5, true), frame(6, true)]) hub.publish(item)
  const seen: (string | number)[] = []
  hub.attach(sinkInto(seen), { withEarlier: true })
  assert.deepEqual(seen, ['start', 5, 6])
})

test('tiny frames count with their overhead, so that millions of them are not kept', () => {
  const hub = new CameraHub({ maxGopBytes: 1_000_000, onSinkError: () => {} })
  hub.publish(start)
  let most = 0
  for (let i = 0; i < 10_000; i++) {
    hub.publish(frame(i, i === 0, 1))
    most = Math.max(most, hub.stats().gopBytes)
  }
  assert.ok(most > 900_000)
  assert.equal(hub.stats().gopBytes, 0)
})

test('after the end of a run a reader gets nothing until the next start', () => {
  const hub = hubOf()
  for (const item of [start, frame(0, true)]) hub.publish(item)
  hub.publish({ kind: 'end', reason: 'camera_unreachable' })
  const seen: (string | number)[] = []
  hub.attach(sinkInto(seen))
  assert.deepEqual(seen, [])
  hub.publish(start)
  assert.deepEqual(seen, ['start'])
})

test('memory is reused when its group of pictures ends, unless a reader does not release frames', () => {
  const publish = (hub: CameraHub, pool: FrameMemoryPool, pts90k: number, isKey: boolean) => {
    const memory = pool.take()
    hub.publish({ ...frame(pts90k, isKey), data: memory.bytes.subarray(0, 10), memory })
    memory.release()
    return memory
  }
  for (const holdsMemory of [true, false]) {
    const pool = new FrameMemoryPool(1024 * 1024)
    // Without room for what precedes the newest group.
    const hub = new CameraHub({ maxGopBytes: 1000, earlierBudget: new ByteBudget(10), onSinkError: () => {} })
    hub.publish(start)
    const early = publish(hub, pool, 0, true)
    assert.equal(early.bytes[0], 0, 'the hub holds it')
    hub.attach({ push() {}, holdsMemory })
    publish(hub, pool, 1, false)
    publish(hub, pool, 2, true)
    assert.equal(pool.freeBytes, holdsMemory ? 512 * 1024 : 0)
    assert.equal(early.bytes.length, holdsMemory ? 0 : 256 * 1024)
  }
})

test('a reader that throws is removed and the others continue', () => {
  const errors: unknown[] = []
  const hub = new CameraHub({ onSinkError: (error) => errors.push(error) })
  const seen: (string | number)[] = []
  hub.attach({
    push() {
      throw new Error('bug')
    },
  })
  const detach = hub.attach(sinkInto(seen))
  hub.publish(start)
  hub.publish(frame(0, true))
  assert.equal(errors.length, 1)
  assert.deepEqual(seen, ['start', 0])
  assert.equal(hub.stats().readers, 1)
  detach()
  assert.equal(hub.stats().readers, 0)
})

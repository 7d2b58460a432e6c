import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryStreamRows } from '../../test/support/playback/memory-stream-rows.ts'
import type { Segment } from '../model/segment.ts'
import { ActiveStreams } from './active-streams.ts'

const minuteMs = 60_000
const startMs = Date.UTC(2026, 0, 1)
const segmentsOf = (minutes: number): Segment[] =>
  Array.from({ length: minutes }, (_, minute) => {
    const beginMs = startMs + minute * minuteMs
    const fragment = { bytes: 1000, duration90k: 15 * 90_000, durationMs: 15_000, isKey: true }
    return {
      id: minute + 1,
      cameraId: 1,
      runId: 'run',
      runStart90k: minute * 60 * 90_000,
      placeId: 1,
      path: `${minute}`,
      startMs: beginMs,
      endMs: beginMs + minuteMs,
      bytes: 4800,
      initBytes: 800,
      codecs: 'avc1.42c01e',
      width: 64,
      height: 48,
      initHash: 'x',
      isClosed: true,
      gapReason: undefined,
      fragments: [0, 1, 2, 3].map((i) => ({
        ...fragment,
        offset: 800 + i * 1000,
        start90k: i * fragment.duration90k,
        startMs: beginMs + i * fragment.durationMs,
      })),
    }
  })

/** Creates streams over `minutes` of footage with four entries per minute. */
function open(minutes: number, maxEntriesInMemory: number, streams = new MemoryStreamRows()) {
  const segments = segmentsOf(minutes)
  const load = { now: 0, most: 0 }
  const clock = { ms: 0 }
  const active = new ActiveStreams({
    catalog: {
      bounds: async () => ({ startMs, endMs: startMs + minutes * minuteMs }),
      onFragment: () => () => {},
      async listSegments(_, fromMs, toMs) {
        load.most = Math.max(load.most, ++load.now)
        await new Promise(setImmediate)
        load.now--
        return segments.filter((segment) => segment.startMs < toMs && segment.endMs > fromMs)
      },
    },
    streams,
    clock: { nowMs: () => startMs + minutes * minuteMs, monotonicMs: () => clock.ms, sleep: async () => {} },
    canView: async () => true,
    isLive: () => true,
    maxEntriesInMemory,
  })
  const defaultIds = Array.from({ length: 30 }, (_, i) => `stream ${i}`)
  let created = 0
  const insertAll = (ids = defaultIds) =>
    Promise.all(
      ids.map((id) =>
        active.insert(id, {
          cameraId: 1,
          userId: 1,
          credential: { kind: 'grant', id: 1 },
          startMs,
          endMs: startMs + minutes * minuteMs,
          createdAtMs: startMs + created++,
          state: 'playing',
          speed: 1,
          listing: undefined,
          currentMs: undefined,
        }),
      ),
    )
  const use = async (id: string) => {
    const stream = await active.get(id)
    await active.update(stream)
    return stream.stream.part.entries.entries.length
  }
  return { active, ids: defaultIds, insertAll, use, load, clock }
}

test('the entries in memory are bounded for any number of streams, and few streams are built at a time', async () => {
  const { active, ids, insertAll, use, load } = open(60, 1000)
  await insertAll()
  const sizes = await Promise.all(ids.map(use))
  assert.deepEqual([...new Set(sizes)], [240], 'every stream has all its entries')
  assert.deepEqual([active.size, active.entries], [4, 960])
  assert.ok(load.most <= 8, `${load.most} at a time`)
})

test('the least recently used stream is removed from memory; one that exceeds the limit alone stays while it is used', async () => {
  const { active, ids, insertAll, use } = open(60, 1000)
  await insertAll()
  const first = await active.get(ids[0]!)
  for (const id of ids.slice(0, 12)) {
    await use(id)
    await use(ids[0]!)
  }
  assert.equal(await active.get(ids[0]!), first)
  const small = open(60, 100)
  await small.insertAll()
  assert.equal(await small.use('stream 1'), 240)
  assert.equal(small.active.size, 1)
})

test('an idle stream is removed from memory', async () => {
  const { active, ids, insertAll, use, clock } = open(2, 1000)
  await insertAll()
  for (const id of ids) await use(id)
  assert.equal(active.size, 30)
  clock.ms += 6 * minuteMs
  await use(ids[3]!)
  assert.equal(active.size, 1)
})

test('only the newest streams of a user are kept, even if older ones are being watched', async () => {
  const { active, ids, insertAll, use } = open(2, 1000)
  await insertAll()
  for (const id of ids) await use(id)
  for (let i = 0; i < 100; i++) await insertAll([`later ${i}`])
  for (const id of ids) await assert.rejects(use(id), { kind: 'not_found' })
  assert.equal(active.isActive(ids[0]!), false)
  await use('later 0')
  await use('later 99')
})

test('a stream that another server has changed is continued from what that has listed', async () => {
  const rows = new MemoryStreamRows()
  const [first, second] = [open(2, 1000, rows), open(2, 1000, rows)]
  await first.insertAll(['s'])
  const [here, there] = [await first.active.get('s'), await second.active.get('s')]
  // One server makes many changes at once.
  await Promise.all([0.5, 2, 4].map((speed) => first.active.change(here, { speed })))
  await assert.rejects(second.active.change(there, { state: 'paused' }), { kind: 'unavailable' })
  const again = await second.active.get('s')
  assert.deepEqual([again.row.speed, again.row.state], [4, 'playing'])
  await second.active.change(again, { state: 'paused' })
  await assert.rejects(first.active.change(here, { speed: 1 }), { kind: 'unavailable' })
  assert.equal((await first.active.get('s')).row.state, 'paused')
})

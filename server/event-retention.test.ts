import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTemporaryStore } from '../test/support/store/temporary-store.ts'
import { TestClock } from '../test/support/test-clock.ts'
import { silentLogger } from './base/log.ts'
import { removeOldEvents, runEventRetention } from './event-retention.ts'

const startMs = Date.UTC(2030, 0, 1)
const dayMs = 86_400_000

test('what was received too long ago goes, then the oldest of cameras with too many; in steps, each minute', async (t) => {
  const clock = new TestClock(startMs)
  const { store } = await openTemporaryStore(t, { clock })
  const { id: ownerId } = await store.users.insert({ email: 'a@b', firstName: 'A', lastName: 'B', passwordHash: '!' })
  const addCamera = async () => {
    const source = { type: 'h264', url: 'rtsp://h/1', username: null, password: null } as const
    return (await store.cameras.insert({ ...source, name: 'Door', ownerId })).id
  }
  const [quiet, loud] = [await addCamera(), await addCamera()]
  const add = (cameraId: number, count: number) =>
    store.transaction(async ({ events }) => {
      for (let i = 0; i < count; i++) {
        const event = { title: null, category: 'generic', source: 'api', data: null } as const
        // Imported events with old times: only when they were received counts.
        await events.insert({ ...event, cameraId, occurredAtMs: i })
      }
    })
  await add(quiet, 700)
  await clock.advance(dayMs)
  await add(quiet, 3)
  await add(loud, 1300)
  const options = { events: store.events, clock, deletionMs: () => clock.nowMs(), log: silentLogger }
  const signal = new AbortController().signal
  const run = async (values: { maxAgeMs: number | undefined; maxPerCamera: number }) => {
    const removing = removeOldEvents({ ...options, ...values }, signal)
    await clock.advance(1000)
    return removing
  }
  const counts = async () => [
    await store.events.count({ cameraId: quiet }, {}),
    await store.events.count({ cameraId: loud }, {}),
  ]
  assert.equal(await run({ maxAgeMs: undefined, maxPerCamera: 5000 }), 0)
  assert.equal(await run({ maxAgeMs: dayMs / 2, maxPerCamera: 5000 }), 700)
  assert.deepEqual(await counts(), [3, 1300])
  assert.equal(await run({ maxAgeMs: undefined, maxPerCamera: 100 }), 1200)
  assert.deepEqual(await counts(), [3, 100])
  const [last] = await store.events.list({ cameraId: loud }, {}, { limit: 1, offset: 99 })
  assert.equal(last!.occurredAtMs, 1200)

  const stopping = new AbortController()
  const running = runEventRetention({ ...options, maxAgeMs: dayMs, maxPerCamera: 50 }, stopping.signal)
  await clock.advance(30_000)
  assert.deepEqual(await counts(), [3, 50])
  await add(loud, 1)
  await clock.advance(60_000)
  assert.deepEqual(await counts(), [3, 50])
  await clock.advance(dayMs)
  assert.deepEqual(await counts(), [0, 0])
  stopping.abort()
  await running
})

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { RecordingStatus } from '../../contract/recording-status.ts'
import { openTemporaryStore } from '../../test/support/store/temporary-store.ts'
import { TestClock } from '../../test/support/test-clock.ts'
import { AppError } from '../base/error.ts'
import { silentLogger } from '../base/log.ts'
import type { CameraEvent } from '../store/cameras/events.ts'
import type { Store } from '../store/store.ts'
import { CameraOutages } from './camera-outages.ts'
import { EventWriter } from './event-writer.ts'

const startMs = Date.UTC(2030, 0, 1)
const source = { type: 'h264', url: 'rtsp://h/1', username: null, password: null } as const

/** Opens the real store with cameras; those in `seen` have been connected before. */
async function open(t: TestContext, { cameras = 1, seen = cameras }: { cameras?: number; seen?: number } = {}) {
  const clock = new TestClock(startMs)
  const { store } = await openTemporaryStore(t, { clock })
  const owner = await store.users.insert({ email: 'a@b', firstName: 'A', lastName: 'B', passwordHash: '!' })
  const ids: number[] = []
  for (let i = 0; i < cameras; i++) {
    const { id } = await store.cameras.insert({ ...source, name: 'Door', ownerId: owner.id })
    if (i < seen) await store.cameras.setSnapshotAt(id, startMs)
    ids.push(id)
  }
  const start = async ({
    insert = (...args) => store.events.insert(...args),
  }: Partial<Pick<Store['events'], 'insert'>> = {}) => {
    const fenced: Store['fenced'] = (_, work) =>
      work({ ...store, events: Object.assign(Object.create(store.events), { insert }) })
    const events = new EventWriter({ store: { fenced }, clock, log: silentLogger })
    const begun = await store.events.listOutages()
    const rows = await store.cameras.list()
    const cameras = new Map(
      rows.map(({ id, snapshotAtMs }) => {
        const outageSinceMs = begun.get(id)
        const history = { outageSinceMs, wasConnected: snapshotAtMs !== null }
        return [id, new CameraOutages({ cameraId: id, events, clock, outageMs: 15_000, ...history })]
      }),
    )
    const of = (id = ids[0]!) => cameras.get(id)!
    const stopping = new AbortController()
    const look = async () => {
      while (!stopping.signal.aborted) {
        await clock.sleep(1000, stopping.signal).catch(() => {})
        for (const outages of cameras.values()) if (!stopping.signal.aborted) outages.look()
        events.send()
      }
      await events.flush()
    }
    const running = look()
    const stop = async () => {
      stopping.abort()
      await running
    }
    t.after(stop)
    return {
      events,
      of,
      stop,
      forget: (id: number) => cameras.delete(id),
      online: (id?: number) => of(id).connected(),
      offline: (id?: number) => of(id).disconnected(offlineData),
      recording: (status: RecordingStatus, detail?: string) => of().takeRecordingStatus(status, detail),
    }
  }
  const wait = async (seconds: number) => clock.advance(seconds * 1000)
  const list = async () => {
    const events = await store.events.list({ ownerId: owner.id }, {}, { limit: 1000, offset: 0 })
    return events.reverse().map(({ category, occurredAtMs, data }) => {
      return [category, (occurredAtMs - startMs) / 1000, JSON.parse(data!)]
    })
  }
  return { store, clock, ids, start, wait, list, ownerId: owner.id }
}

const offlineData = { reason: 'camera_unreachable', detail: 'It does not answer.' }

test('a camera whose clock is wrong every night is reported once, with advice', async (t) => {
  const { start, wait, list } = await open(t)
  const { of, stop } = await start()
  const tell = (rate: number) => of().takeClockRate(rate)
  tell(1.5)
  await wait(30)
  tell(1)
  await wait(1)
  tell(2.0004)
  await wait(20)
  assert.deepEqual(await list(), [], 'not for a moment')
  await wait(40)
  for (let night = 0; night < 3; night++) {
    tell(1)
    await wait(600)
    tell(2)
    await wait(600)
  }
  await stop()
  const [event, ...more] = await list()
  assert.deepEqual([event![0], event![1], more], ['camera_clock', 0, []])
  assert.equal(event![2].rate, 1.5)
  assert.match(event![2].detail, /advance by 40.0 seconds per minute.* fewer frames/)
})

test('an outage is a pair of events with the times when it began and ended', async (t) => {
  const { start, wait, list } = await open(t)
  const { online, offline } = await start()
  online()
  await wait(100)
  assert.deepEqual(await list(), [])
  offline()
  await wait(10)
  offline()
  await wait(4)
  assert.deepEqual(await list(), [])
  await wait(1)
  assert.deepEqual(await list(), [['camera_offline', 100, offlineData]])
  await wait(45)
  online()
  await wait(20)
  const onlineData = { offline_since: '2030-01-01T00:01:40Z', duration_seconds: 60 }
  assert.deepEqual(await list(), [
    ['camera_offline', 100, offlineData],
    ['camera_online', 160, onlineData],
  ])
  await wait(1000)
  assert.equal((await list()).length, 2)
})

test('short outages write no events, and neither do cameras that connect when the server starts', async (t) => {
  const { start, wait, list, ids } = await open(t, { cameras: 2 })
  const { online, offline } = await start()
  offline(ids[1])
  await wait(3)
  online(ids[0])
  online(ids[1])
  for (let i = 0; i < 5; i++) {
    await wait(20)
    offline(ids[0])
    await wait(3)
    online(ids[0])
  }
  await wait(100)
  assert.deepEqual(await list(), [])
})

test('only a camera that was connected before has an outage when it is offline at the start', async (t) => {
  const { start, wait, list, ids } = await open(t, { cameras: 2, seen: 1 })
  const { offline } = await start()
  for (const id of ids) offline(id)
  await wait(60)
  assert.deepEqual(await list(), [['camera_offline', 0, offlineData]])
})

test('a restart neither reports an outage twice nor forgets its end', async (t) => {
  const { start, wait, list, store } = await open(t)
  const first = await start()
  first.online()
  first.offline()
  await wait(30)
  await first.stop()
  await wait(100)
  const second = await start()
  second.offline()
  await wait(100)
  assert.equal((await list()).length, 1)
  await second.stop()
  const third = await start()
  third.online()
  await wait(20)
  const [, end] = await list()
  assert.deepEqual(end, ['camera_online', 230, { offline_since: '2030-01-01T00:00:00Z', duration_seconds: 230 }])
  await third.stop()
  assert.equal((await store.events.listOutages()).size, 0)
  const fourth = await start()
  fourth.online()
  await wait(20)
  assert.equal((await list()).length, 2)
})

test('an outage that is too short when the server stops is not reported', async (t) => {
  const { start, wait, list } = await open(t)
  const first = await start()
  first.online()
  first.offline()
  await wait(10)
  await first.stop()
  const second = await start()
  second.online()
  await wait(60)
  assert.deepEqual(await list(), [])
})

test('cameras of a crashed worker have an outage only after a while', async (t) => {
  const { start, wait, list, ids } = await open(t, { cameras: 3, seen: 2 })
  const { of, online } = await start()
  for (const id of ids) of(id).disconnected({ reason: 'server_down', detail: undefined })
  await wait(10)
  online(ids[0])
  await wait(30)
  assert.deepEqual(
    (await list()).map(([category, , data]) => [category, data.reason]),
    [['camera_offline', 'server_down']],
  )
})

test('a gap is reported if it is long enough and the owner did not cause it', async (t) => {
  const { start, wait, list, ids } = await open(t)
  const { of } = await start()
  const gap = { cameraId: ids[0]!, startMs: startMs + 500, endMs: startMs + 20_700, reason: 'camera_unreachable' }
  of().takeGap(gap)
  of().takeGap({ ...gap, endMs: gap.startMs + 14_999 })
  of().takeGap({ ...gap, endMs: gap.startMs - 60_000 })
  of().takeGap({ ...gap, reason: 'stopped_by_user' })
  of().takeGap({ ...gap, startMs: gap.endMs, endMs: startMs + 60_000, reason: 'server_down' })
  await wait(2)
  assert.deepEqual(await list(), [
    // As in the timeline, whose segments are rounded outward.
    [
      'recording_gap',
      20.7,
      { start: '2030-01-01T00:00:01Z', end: '2030-01-01T00:00:20Z', reason: 'camera_unreachable' },
    ],
    ['recording_gap', 60, { start: '2030-01-01T00:00:21Z', end: '2030-01-01T00:01:00Z', reason: 'server_down' }],
  ])
})

test('a failing recording is reported immediately, and once until it works again', async (t) => {
  const { start, wait, list } = await open(t)
  const { recording } = await start()
  recording('RECORDING')
  for (let i = 0; i < 20; i++) {
    recording('ERROR', 'The disk is full.')
    await wait(5)
    recording('RECORDING')
    await wait(2)
  }
  assert.deepEqual(await list(), [['recording_error', 0, { detail: 'The disk is full.' }]])
  await wait(15)
  recording('ERROR')
  await wait(1)
  recording('READY')
  recording('ERROR', 'Again.')
  await wait(1)
  assert.deepEqual(
    (await list()).map(([, at, data]) => [at, data.detail]),
    [
      [0, 'The disk is full.'],
      [155, null],
      [156, 'Again.'],
    ],
  )
})

test('a deleted camera is forgotten, including its pending events', async (t) => {
  const { start, wait, list, ids, store } = await open(t, { cameras: 2 })
  const { events, forget, offline } = await start()
  for (const id of ids) offline(id)
  await store.cameras.remove(ids[0]!)
  await wait(20)
  assert.deepEqual(await list(), [['camera_offline', 0, offlineData]])
  forget(ids[0]!)
  forget(ids[1]!)
  await wait(60)
  assert.deepEqual(events.stats(), { waiting: 0, dropped: 0 })
})

test('while the store fails, events wait in order up to a limit without blocking anything', async (t) => {
  const { start, wait, list, ids, store } = await open(t, { cameras: 50 })
  let isDown = true
  const written: string[] = []
  const insert: Store['events']['insert'] = async (event, outage) => {
    if (isDown) throw new AppError('unavailable', 'the database cannot be used')
    written.push(event.category)
    return outage ? store.events.insert(event, outage) : ({} as CameraEvent)
  }
  const { events, of, offline, online } = await start({ insert })
  offline()
  await wait(20)
  online()
  await wait(20)
  assert.equal(events.stats().waiting, 2)
  for (let i = 0; i < 1100; i++) {
    const cameraId = ids[1 + (i % 49)]!
    of(cameraId).takeGap({ startMs: startMs - 60_000, endMs: startMs, reason: 'no_frames' })
  }
  await wait(1)
  assert.deepEqual(events.stats(), { waiting: 1000, dropped: 102 })
  isDown = false
  await wait(1)
  await events.flush()
  assert.equal(events.stats().waiting, 0)
  assert.equal(written.length, 1000)
  assert.deepEqual(written.slice(0, 3), ['camera_offline', 'camera_online', 'recording_gap'])
  assert.equal((await list()).length, 2)
})

test('one camera cannot flood the store: new events are limited, ends of events are written', async (t) => {
  const { start, wait, store, ownerId } = await open(t)
  const { offline, online } = await start()
  for (let i = 0; i < 120; i++) {
    offline()
    await wait(16)
    online()
    await wait(16)
  }
  await wait(60)
  const events = await store.events.list({ ownerId }, {}, { limit: 1000, offset: 0 })
  const of = (category: string) => events.filter((event) => event.category === category).length
  // 60, plus 60 per hour for 3,840 s; some of the delayed ones had ended meanwhile.
  assert.ok(of('camera_offline') >= 60 && of('camera_offline') <= 60 + 3840 / 60 + 1, String(of('camera_offline')))
  assert.equal(of('camera_online'), of('camera_offline'))
})

test('persistent losses are one event, and another only after they were low for a while', async (t) => {
  const { start, wait, list } = await open(t)
  const { of } = await start()
  const lose = async (seconds: number, isLosing: boolean) => {
    for (let i = 0; i < seconds; i += 10) {
      of().takeLoss({
        isLosing,
        packetLoss: isLosing ? 0.0312 : 0,
        frameLoss: isLosing ? 0.4 : 0,
      })
      await wait(10)
    }
  }
  await lose(200, true)
  await lose(700, false)
  assert.deepEqual(await list(), [], 'they must last')
  await lose(400, true)
  await lose(300, false)
  await lose(900, true)
  const first = ['packet_loss', 900, { packet_loss_percent: 3.1, picture_loss_percent: 40 }]
  assert.deepEqual(await list(), [first])
  await lose(700, false)
  await lose(400, true)
  assert.deepEqual(
    (await list()).map(([category]) => category),
    ['packet_loss', 'packet_loss'],
  )
})

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { openTemporaryStore } from '../../test/support/store/temporary-store.ts'
import type { Catalog } from '../archive/catalog.ts'
import { type Clock, systemClock } from '../base/clock.ts'
import { silentLogger } from '../base/log.ts'
import { CameraRegistry, type CameraRegistryOptions } from './camera-registry.ts'
import { EventWriter } from './event-writer.ts'
import { SnapshotTaker } from './snapshot-taker.ts'
import type { CameraJob } from './worker-protocol.ts'

type Parts = {
  readonly clock?: Clock
  readonly removeCamera?: (cameraId: number) => Promise<void>
  readonly onGone?: (what: string) => void
}

/** Opens the real store with an owner of cameras, and starts registries on it one after the other. */
async function setUp(t: TestContext, { clock = systemClock, removeCamera = async () => {}, onGone }: Parts = {}) {
  const { store } = await openTemporaryStore(t, { clock })
  const { id: ownerId } = await store.users.insert({
    ...{ email: 'ada@example.com', firstName: '', lastName: '', passwordHash: '!' },
  })
  const add = async (name: string) => {
    const source = { url: `rtsp://${name}.example/`, username: null, password: null }
    return (await store.cameras.insert({ ownerId, name, type: 'h264', ...source })).id
  }
  const open = async (overrides: Partial<CameraRegistryOptions> = {}) => {
    const jobs: CameraJob[] = []
    const waiting = new Set<() => void>()
    const registry = new CameraRegistry({
      store,
      catalog: {
        removeCamera: async () => onGone?.('footage'),
        findLast: async () => undefined,
        knownBounds: async () => undefined,
      } as unknown as Catalog,
      workers: {
        setCamera: (job) => {
          jobs.push(job)
          for (const look of waiting) look()
        },
        removeCamera,
      },
      snapshots: new SnapshotTaker({
        takeSnapshot: () => Promise.reject(new Error('no camera')),
        ...{ dir: '/nonexistent', clock, log: silentLogger, onSnapshot: () => {} },
      }),
      events: new EventWriter({ store, clock, log: silentLogger }),
      closeLive: () => onGone?.('viewers'),
      onRecordingError: () => {},
      outageMs: 15_000,
      clock,
      log: silentLogger,
      ...overrides,
    })
    const ended = new AbortController()
    await registry.open()
    const running = Object.values(registry.tasks).map((run) => run(ended.signal))
    return {
      registry,
      jobs,
      until: (count: number) =>
        new Promise<void>((resolve) => {
          const look = () => jobs.length >= count && resolve()
          waiting.add(look)
          look()
        }),
      async close() {
        ended.abort()
        await Promise.all(running)
        await registry.close()
      },
    }
  }
  return { store, add, open }
}

test('a recording with a fixed end stops by itself, also if it was started before the server', async (t) => {
  let aheadMs = 0
  const clock: Clock = { ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs }
  const { store, add, open } = await setUp(t, { clock })
  const id = await add('door')
  await store.recordings.enable(id, { retention: 'P7D', maxBytes: null })
  await store.recordings.stop(id)
  const areRecorded = (jobs: readonly CameraJob[]) => jobs.map(({ recording }) => recording !== undefined)

  const first = await open()
  await store.recordings.start(id, clock.nowMs() + 60_000)
  await first.until(2)
  aheadMs = 61_000
  await first.until(3)
  assert.deepEqual(areRecorded(first.jobs), [false, true, false])
  await store.recordings.start(id, clock.nowMs() + 60_000)
  await first.until(4)
  await first.close()

  aheadMs = 200_000
  const second = await open()
  await store.recordings.start(id, null)
  await second.until(2)
  assert.deepEqual(areRecorded(second.jobs), [false, true])
  await second.close()
})

test('while a deleted camera waits for its disk, other cameras are handled', async (t) => {
  const removing = Promise.withResolvers<void>()
  const closed = Promise.withResolvers<void>()
  const gone: string[] = []
  const { store, add, open } = await setUp(t, {
    removeCamera: () => {
      removing.resolve()
      return closed.promise
    },
    onGone: (what) => gone.push(what),
  })
  const door = await add('door')
  const { registry, jobs, until, close } = await open()
  await store.cameras.remove(door)
  await removing.promise
  const id = await add('yard')
  await until(2)
  assert.equal(jobs.at(-1)?.cameraId, id)
  registry.take({
    type: 'camera_status',
    cameraId: id,
    status: { state: 'offline', reason: 'no_frames', problem: 'no_video', detail: 'x' },
  })
  registry.take({ type: 'camera_status', cameraId: id, status: { state: 'connecting' } })
  const offline = [{ status: 'offline', reason: 'no_frames', cameras: 1 }]
  assert.deepEqual(registry.stats(), offline, 'another attempt does not bring it back')
  assert.deepEqual(gone, [], 'its file is still open')
  assert.ok(registry.find(door))
  closed.resolve()
  await close()
  assert.deepEqual(gone.sort(), ['footage', 'viewers'])
  assert.equal(registry.find(door), undefined)
})

test('a change reads only its camera from the store; a change of an account or by another process reads all', async (t) => {
  const { store, add, open } = await setUp(t)
  const ids = [await add('door'), await add('yard'), await add('garage')]
  await store.users.insert({ email: 'bob@example.com', firstName: '', lastName: '', passwordHash: '!', isOwner: true })
  let lists = 0
  const found: number[] = []
  const cameras = new Proxy(store.cameras, {
    get: (target, name) => {
      if (name === 'list') lists++
      const method = target[name as 'find'].bind(target)
      if (name !== 'find') return method
      return (id: number) => {
        found.push(id)
        return method(id)
      }
    },
  })
  const { jobs, until, close } = await open({ store: { ...store, cameras } })
  await until(3)
  assert.equal(lists, 1)
  await store.cameras.update(ids[1]!, { url: 'rtsp://other.example/' })
  await until(4)
  assert.deepEqual([jobs[3]!.cameraId, jobs[3]!.url, lists], [ids[1], 'rtsp://other.example/', 1])
  await store.cameras.update(ids[1]!, { name: 'Garden' })
  await store.recordings.enable(ids[2]!, { retention: 'P1D', maxBytes: null })
  await until(5)
  assert.deepEqual([jobs[4]!.cameraId, jobs[4]!.recording], [ids[2], { startReason: 'stopped_by_user' }])
  assert.deepEqual([jobs.length, lists, [...new Set(found)]], [5, 1, [ids[1], ids[2]]])
  assert.ok(jobs.every(({ canSeeProblems }) => canSeeProblems))
  await store.accounts.change(jobs[0]!.ownerId, { isOwner: false })
  await until(8)
  assert.ok(jobs.slice(5).every(({ canSeeProblems }) => !canSeeProblems))
  assert.equal(lists, 2)
  await close()
})

test('a failed read of a change is retried without another change', async (t) => {
  const { store, add, open } = await setUp(t)
  const id = await add('door')
  let failures = 0
  const unreadable = async () => {
    failures++
    throw new Error('the disk does not answer')
  }
  const recordings = new Proxy(store.recordings, {
    get: (target, name) => (name === 'find' ? unreadable : target[name as 'list'].bind(target)),
  })
  const { jobs, until, close } = await open({ store: { ...store, recordings } })
  await store.recordings.enable(id, { retention: 'P1D', maxBytes: null })
  await until(2)
  assert.equal(failures, 1)
  const areRecorded = jobs.map(({ recording }) => recording !== undefined)
  assert.deepEqual(areRecorded, [false, true])
  await close()
})

test('a camera that goes to another server before it was opened here is given back', async (t) => {
  const { add, open } = await setUp(t)
  const id = await add('door')
  const given: number[] = []
  const giveBack = (cameraId: number) => void given.push(cameraId)
  const leases = { find: () => undefined, ids: () => [], onChange: () => {}, doubt: () => {}, giveBack }
  const { jobs, close } = await open({ leases })
  assert.deepEqual([given, jobs], [[id], []])
  await close()
})

test('footage and snapshots of a camera that was deleted while the server was stopped are removed', async (t) => {
  const gone: string[] = []
  const { store, open } = await setUp(t, { onGone: (what) => gone.push(what) })
  const segments = Object.assign(Object.create(store.segments) as typeof store.segments, {
    listCameraIds: async () => [7],
  })
  const { registry, close } = await open({ store: { ...store, segments } })
  await close()
  assert.deepEqual(gone.sort(), ['footage', 'viewers'])
  assert.deepEqual([registry.find(7), registry.stats()], [undefined, []])
})

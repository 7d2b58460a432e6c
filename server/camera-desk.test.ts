import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Catalog } from './archive/catalog.ts'
import { type Clock, systemClock } from './base/clock.ts'
import { silentLogger } from './base/log.ts'
import { CameraDesk } from './camera-desk.ts'
import { openTemporaryStore } from './store/temporary-store.ts'

test('recording that is started for a while stops by itself, also when that was before the server started', {
  timeout: 30_000,
}, async (t) => {
  let aheadMs = 0
  const clock: Clock = { ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs }
  const { store } = await openTemporaryStore(t, { clock })
  const { id: ownerId } = await store.users.insert({
    email: 'ada@example.com',
    firstName: '',
    lastName: '',
    passwordHash: '!',
  })
  const source = { url: 'rtsp://camera.example/', username: null, password: null }
  const { id } = await store.cameras.insert({ ownerId, name: 'Door', type: 'h264', ...source })
  await store.recordings.enable(id, { retention: 'P7D', maxBytes: null })
  await store.recordings.stop(id)

  const openDesk = async () => {
    const changes: boolean[] = []
    const waiting = new Set<() => void>()
    const desk = new CameraDesk({
      store,
      catalog: {} as Catalog,
      workers: {
        setCamera: ({ recording }) => {
          changes.push(recording !== undefined)
          for (const look of waiting) look()
        },
        removeCamera: async () => {},
      },
      onOnline: () => {},
      onOffline: () => {},
      onRecordingError: () => {},
      findStartReason: async () => 'server_down',
      onRemoved: async () => {},
      clock,
      log: silentLogger,
    })
    const ended = new AbortController()
    await desk.open()
    const running = desk.run(ended.signal)
    return {
      changes,
      until: (count: number) =>
        new Promise<void>((resolve) => {
          const look = () => changes.length >= count && resolve()
          waiting.add(look)
          look()
        }),
      async close() {
        ended.abort()
        await running
        await desk.close()
      },
    }
  }

  const first = await openDesk()
  await store.recordings.start(id, clock.nowMs() + 60_000)
  await first.until(2)
  aheadMs = 61_000
  await first.until(3)
  assert.deepEqual(first.changes, [false, true, false])
  await store.recordings.start(id, clock.nowMs() + 60_000)
  await first.until(4)
  await first.close()

  aheadMs = 200_000
  const second = await openDesk()
  await store.recordings.start(id, null)
  await second.until(2)
  assert.deepEqual(second.changes, [false, true])
  await second.close()
})

test('while a removed camera waits for its disk, the others are looked after', { timeout: 30_000 }, async (t) => {
  const { store } = await openTemporaryStore(t)
  const { id: ownerId } = await store.users.insert({
    email: 'a@example.com',
    firstName: '',
    lastName: '',
    passwordHash: '!',
  })
  const add = async (name: string) => {
    const source = { url: `rtsp://${name}.example/`, username: null, password: null }
    return (await store.cameras.insert({ ownerId, name, type: 'h264', ...source })).id
  }
  const door = await add('door')
  const removing = Promise.withResolvers<void>()
  const closed = Promise.withResolvers<void>()
  const yard = Promise.withResolvers<number>()
  const gone: string[] = []
  const desk = new CameraDesk({
    store,
    catalog: { removeCamera: async () => void gone.push('footage') } as unknown as Catalog,
    workers: {
      setCamera: ({ cameraId }) => cameraId !== door && yard.resolve(cameraId),
      removeCamera: () => {
        removing.resolve()
        return closed.promise
      },
    },
    onOnline: () => {},
    onOffline: () => {},
    onRecordingError: () => {},
    findStartReason: async () => 'server_down',
    onRemoved: async () => void gone.push('pictures'),
    clock: systemClock,
    log: silentLogger,
  })
  await desk.open()
  await store.cameras.remove(door)
  await removing.promise
  const id = await add('yard')
  assert.equal(await yard.promise, id)
  desk.take({
    type: 'camera_status',
    cameraId: id,
    status: { state: 'offline', reason: 'no_frames', trouble: 'no_video', detail: 'x' },
  })
  desk.take({ type: 'camera_status', cameraId: id, status: { state: 'connecting' } })
  const offline = [{ status: 'offline', reason: 'no_frames', cameras: 1 }]
  assert.deepEqual(desk.stats(), offline, 'another attempt does not bring it back')
  assert.deepEqual(gone, [], 'its file is still open')
  closed.resolve()
  await desk.close()
  assert.deepEqual(gone.sort(), ['footage', 'pictures'])
})

// Recordings are uploaded to a bucket of a real store while cameras record and viewers play. The store is away for a
// while, objects disappear behind the server's back, and what was uploaded comes back to a folder.

import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Recording } from '../../contract/recording.ts'
import type { Storage } from '../../contract/storage.ts'
import { BlockCache } from '../../server/places/bucket/block-cache.ts'
import { BucketFiles } from '../../server/places/bucket/bucket-files.ts'
import { openFakeCamera } from '../fake-camera/fake-camera.ts'
import { createLoadStreams } from '../fake-camera/source/stream-options.ts'
import { openS3Store, whyNoStore } from '../s3/s3-store.ts'
import { eventually, openServer } from '../server-under-test.ts'
import { beginNewFiles, isWhole, playAll } from './recorded-files.ts'

const skip = whyNoStore()
const cameraCount = 3
const video = { width: 320, height: 180, framesPerSecond: 15, gopFrames: 15, loopSeconds: 4, bitsPerSecond: 300_000 }

type Check = { ok: boolean; orphan_files: string[]; missing_files: string[]; missing_places: string[] }

async function openScene(t: TestContext) {
  const store = await openS3Store()
  Object.assign(process.env, store.environment)
  const streams = createLoadStreams(cameraCount, video)
  const source = await openFakeCamera({ streams })
  const server = await openServer('--min-free', '0')
  t.after(async () => {
    await server[Symbol.asyncDispose]()
    await source[Symbol.asyncDispose]()
    await store[Symbol.asyncDispose]()
  })
  const cameras: number[] = []
  for (const { name } of streams) {
    const id = await server.addCamera(name, source.url(name))
    await server.request(`/v1/cameras/${id}/recording/`, { method: 'POST', body: { retention: 'P1D' } })
    cameras.push(id)
  }
  const recordings = () =>
    Promise.all(cameras.map(async (id) => (await server.request<Recording>(`/v1/cameras/${id}/recording/`)).json))
  const renewFiles = (times: number) => beginNewFiles({ source, recordings }, times)
  /** Of some cameras, or of all. */
  const countLocal = async (...ids: (number | undefined)[]) => {
    const folder = join(server.dataDir, 'archive', 'cameras')
    const names = await readdir(folder, { recursive: true }).catch(() => [])
    const isOfOne = (name: string) => ids.length === 0 || ids.some((id) => name.startsWith(`${id}/`))
    return names.filter((name) => name.endsWith('.mp4') && isOfOne(name)).length
  }
  const readBucket = async () =>
    (await server.request<Storage>('/v1/me/storage/')).json.server!.places.find(({ folder }) =>
      folder.startsWith('s3:'),
    )
  const untilUploaded = () =>
    eventually('only open files are local', 30_000, async () => (await countLocal()) <= cameraCount)
  const check = () =>
    server.command<Check>('check', '--deep').catch((error: { stdout: string }) => JSON.parse(error.stdout) as Check)
  return { store, server, cameras, recordings, renewFiles, countLocal, readBucket, untilUploaded, check }
}

test('recordings go to a bucket, are played from it, and come back', { skip }, async (t) => {
  const { store, server, cameras, recordings, renewFiles, countLocal, readBucket, untilUploaded, check } =
    await openScene(t)
  await eventually('all cameras are recorded', 60_000, async () =>
    (await recordings()).every(({ status }) => status === 'RECORDING'),
  )
  await eventually('each camera has a snapshot', 30_000, async () => {
    const names = await readdir(join(server.dataDir, 'snapshots')).catch(() => [])
    return names.filter((name) => name.endsWith('.jpg')).length === cameraCount
  })
  const folder = store.url('shop')
  await assert.rejects(
    server.command('place', 'add', 's3://nothing-here?endpoint=http://127.0.0.1:1'),
    /cannot be reached/,
  )
  const { id } = await server.command<{ id: number }>('place', 'add', folder)
  await assert.rejects(server.command('place', 'add', `${folder}&after=P1D`), /already/)
  const [slow, ...others] = cameras
  await server.command('camera', 'record', String(slow), '--local', 'P2D')
  await renewFiles(3)
  await eventually('open files and those of one camera are local', 30_000, async () => {
    const [own, rest] = [await countLocal(slow), await countLocal(...others)]
    return own >= 3 && rest <= others.length
  })
  const { local_retention: local } = (await recordings())[0]!
  assert.equal(local, 'P2D')
  await server.request(`/v1/cameras/${slow}/recording/`, { method: 'PUT', body: { local_retention: null } })
  await untilUploaded()
  const bucket = await readBucket()
  assert.ok(bucket!.used_bytes > 0 && bucket!.state === 'ready', JSON.stringify(bucket))
  assert.ok(isWhole(await playAll(server, cameras)))
  assert.ok((await check()).ok, JSON.stringify(await check()))

  store.setFault(() => ({ kind: 'down' }))
  await renewFiles(2)
  const waiting = await countLocal()
  assert.ok(waiting > cameraCount, 'recording goes on')
  assert.ok((await playAll(server, cameras)).every((status) => status === 206 || status === 503))
  await eventually('the state is told', 60_000, async () => (await readBucket())!.state !== 'ready')
  store.setFault((method) =>
    method === 'PUT' && Math.random() < 0.3 ? { kind: 'status', status: 503, code: 'SlowDown' } : undefined,
  )
  await eventually('uploads catch up', 60_000, async () => (await countLocal()) <= cameraCount)
  assert.ok(isWhole(await playAll(server, cameras)))

  for (const camera of cameras) await server.request(`/v1/cameras/${camera}/recording/`, { method: 'DELETE' })
  await eventually('all is uploaded', 30_000, async () => (await countLocal()) === 0)
  const mark = '0'.repeat(32)
  const files = new BucketFiles({ id: 9, folder, mark }, new BlockCache(0))
  const [day] = await files.list(`cameras/${cameras[0]}`)
  const names = await files.list(`cameras/${cameras[0]}/${day}`)
  await files.remove(`cameras/${cameras[0]}/${day}/${names[0]}`)
  const found = await check()
  assert.deepEqual([found.ok, found.missing_files], [false, [`cameras/${cameras[0]}/${day}/${names[0]}`]])
  await server.stop()
  const { fixes } = await server.command<{ fixes: unknown[] }>('check', '--fix')
  assert.equal(fixes.length, 1)
  assert.ok((await check()).ok)

  await server.command('archive', 'move', '--from', String(id), '--to', '1')
  const count = await countLocal()
  assert.ok(count > 0)
  assert.deepEqual(await files.list('cameras'), [])
  assert.ok((await check()).ok)

  // The machine is lost, and with it the database.
  store.setFault(() => undefined)
  await server.command('archive', 'move', '--from', '1', '--to', String(id))
  assert.equal((await files.list('snapshots')).length, cameraCount)
  await using other = await openServer('--min-free', '0')
  for (const camera of cameras) await other.addCamera(`again ${camera}`, 'rtsp://127.0.0.1:9/', '--id', String(camera))
  await assert.rejects(other.command('place', 'add', folder), /another installation/)
  const { id: taken } = await other.command<{ id: number }>('place', 'add', folder, '--take-over')
  await other.stop()
  await other.command('check', '--fix', '--adopt-older')
  const { places } = await other.command<{ places: { id: number; used_bytes: number }[] }>('place', 'list')
  assert.ok(places.find((each) => each.id === taken)!.used_bytes > 0)
  const { ok, files: adopted } = await other.command<{ ok: boolean; files: number }>('check', '--deep')
  assert.deepEqual([ok, adopted], [true, count])

  // The bucket is lost too.
  store.setFault(() => ({ kind: 'status', status: 404, code: 'NoSuchBucket' }))
  await assert.rejects(other.command('check', '--fix', '--forget-missing'), /place drain \d+ --keep-recordings/)
  await other.command('place', 'drain', String(taken), '--keep-recordings')
  await assert.rejects(other.command('place', 'remove', String(taken)), /recordings/)
  await other.command('check', '--fix', '--forget-missing')
  await other.command('place', 'remove', String(taken))
  const rest = await other.command<{ ok: boolean; segments: number }>('check')
  assert.deepEqual([rest.ok, rest.segments], [true, 0])
})

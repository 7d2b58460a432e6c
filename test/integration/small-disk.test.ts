// Records to a disk of 64 MB that is filled completely by other programs, kept below its limit by retention, removed
// and reattached. Live views continue, the owner is notified, recording resumes by itself, and the footage is intact.

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, open, readdir, rm, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Recording, Timeline } from '../../contract/recording.ts'
import { openSecretKey } from '../../server/auth/secret-key.ts'
import type { Segment } from '../../server/model/segment.ts'
import { databaseFile } from '../../server/store/engine/database-file.ts'
import { openStore } from '../../server/store/store.ts'
import { type FakeCamera, openFakeCamera } from '../fake-camera/fake-camera.ts'
import { createLoadStreams } from '../fake-camera/source/stream-options.ts'
import { eventually, openServer, type ServerProcess } from '../server-under-test.ts'
import { openMounts, whyNoMounts } from './mounts.ts'

const skip = whyNoMounts()
const cameraCount = 3
const video = { width: 480, height: 270, framesPerSecond: 15, gopFrames: 15, loopSeconds: 4 }

type Scene = {
  readonly source: FakeCamera
  readonly server: ServerProcess
  readonly cameras: readonly number[]
  readonly disk: string
}

async function openScene(t: TestContext, disk: string, bitsPerSecond: number, ...args: string[]): Promise<Scene> {
  const streams = createLoadStreams(cameraCount, { ...video, bitsPerSecond })
  const source = await openFakeCamera({ streams })
  const server = await openServer('--archive', disk, ...args)
  t.after(async () => {
    await server[Symbol.asyncDispose]()
    await source[Symbol.asyncDispose]()
  })
  const cameras: number[] = []
  for (const { name } of streams) {
    const camera = { name, url: source.url(name), type: 'h264' }
    const { json } = await server.request<{ id: number }>('/v1/cameras/', { method: 'POST', body: camera })
    await server.request(`/v1/cameras/${json.id}/recording/`, { method: 'POST', body: { retention: 'P1D' } })
    cameras.push(json.id)
  }
  return { source, server, cameras, disk }
}

const readRecording = async ({ server }: Scene, id: number) =>
  (await server.request<Recording>(`/v1/cameras/${id}/recording/`)).json

async function allAre(scene: Scene, status: string): Promise<boolean> {
  const found = await Promise.all(scene.cameras.map((id) => readRecording(scene, id)))
  return found.every((recording) => recording.status === status)
}

/**
 * Resolves with the reasons once each camera has reported an error; deletion of old footage may let recording resume
 * briefly in between.
 */
async function untilErrors(scene: Scene): Promise<Map<number, string>> {
  const reasons = new Map<number, string>()
  await eventually('the error is reported', 30_000, async () => {
    for (const id of scene.cameras) {
      const { status, status_reason } = await readRecording(scene, id)
      if (status === 'ERROR') reasons.set(id, String(status_reason))
    }
    return reasons.size === scene.cameras.length
  })
  return reasons
}

async function readReasons({ server, cameras }: Scene): Promise<Set<string>> {
  const time = (ms: number) => new Date(ms).toISOString()
  const range = `start=${time(Date.now() - 3600_000)}&end=${time(Date.now() + 1000)}`
  const timelines = cameras.map(async (id) => {
    const { json } = await server.request<Timeline>(`/v1/cameras/${id}/recording/timeline/?${range}`)
    return json.gaps.map(({ reason }) => reason)
  })
  return new Set((await Promise.all(timelines)).flat())
}

/** The newest segment of each camera in the index. */
async function listNewest({ server, cameras }: Scene): Promise<Segment[]> {
  const credentialsKey = (await openSecretKey(server.dataDir)).deriveKey('camera credentials')
  const database = databaseFile(server.dataDir)
  await using store = await openStore({ database, credentialsKey, foreignIntervalMs: 0 })
  return await Promise.all(
    cameras.map(async (id) => (await store.segments.find((await store.segments.findNewest(id))!.id))!),
  )
}

/** The camera may just be reconnecting. */
async function checkLive({ server, cameras }: Scene): Promise<void> {
  const { live_snapshot } = (await server.request<{ live_snapshot: string }>(`/v1/cameras/${cameras[0]}/`)).json
  await eventually('live views continue', 20_000, async () => {
    const { status } = await server.request(live_snapshot, { authorization: null })
    return status === 200
  })
}

const fillerSizes = [2 ** 20, 2 ** 16, 2 ** 12, 2 ** 8, 2 ** 4, 1]

/** Writes until the disk accepts no more bytes. */
async function fill(file: string): Promise<void> {
  await using handle = await open(file, 'w')
  const chunk = Buffer.alloc(fillerSizes[0]!)
  const write = (bytes: number) =>
    handle.write(chunk, 0, bytes).then(
      ({ bytesWritten }) => bytesWritten,
      () => 0,
    )
  // Other writers may just have freed space; then start again with large chunks.
  for (let refusals = 0; refusals < 3; refusals++) {
    for (const bytes of fillerSizes) {
      for (let i = 0; (i < 16 || bytes === fillerSizes[0]) && (await write(bytes)) === bytes; i++) refusals = 0
    }
  }
}

async function checkAfterwards(scene: Scene): Promise<void> {
  for (const id of scene.cameras) await scene.server.request(`/v1/cameras/${id}/recording/`, { method: 'DELETE' })
  await eventually('all files are complete and match the index', 30_000, async () => {
    const { ok } = await scene.server
      .command<{ ok: boolean }>('check', '--deep', '--archive', scene.disk)
      .catch((error: { stdout: string }) => ({ ok: false, why: error.stdout }))
    return ok
  })
}

// Each test mostly waits for cameras and disks.
suite('a small disk', { concurrency: true }, () => {
  for (const [title, minFree] of [
    ['to the last byte', '0'],
    ['into the reserved free space', '4MB'],
  ] as const) {
    test(`recording resumes after other programs repeatedly filled the disk ${title}`, {
      skip,
    }, async (t) => {
      const mounts = openMounts(t)
      const disk = join(mounts.folder, 'disk')
      mounts.mountMemory(disk, 64)
      const scene = await openScene(t, disk, 400_000, '--min-free', minFree)
      await eventually('all cameras are recorded', 60_000, () => allAre(scene, 'RECORDING'))
      for (let round = 0; round < 3; round++) {
        const filler = join(disk, 'filler')
        await fill(filler)
        for (const reason of (await untilErrors(scene)).values()) assert.match(reason, /disk .* is full/)
        await checkLive(scene)
        await rm(filler)
        await eventually('all cameras are recorded again', 60_000, () => allAre(scene, 'RECORDING'))
      }
      await checkAfterwards(scene)
      // Retention has deleted the footage before, so the timeline shows no gap, but the rows contain it.
      for (const { gapReason } of await listNewest(scene)) assert.equal(gapReason, 'disk_full')
    })
  }

  test('retention frees space before the disk is full and always keeps the configured free space', {
    skip,
  }, async (t) => {
    const mounts = openMounts(t)
    const disk = join(mounts.folder, 'disk')
    mounts.mountMemory(disk, 64)
    const minFreeBytes = 6_000_000
    await writeFile(join(disk, 'of others'), Buffer.alloc(50 * 2 ** 20))
    const scene = await openScene(t, disk, 2_000_000, '--min-free', String(minFreeBytes))
    await eventually('all cameras are recorded', 60_000, () => allAre(scene, 'RECORDING'))
    // For a moment there may be only a file that has just begun.
    const firstOf = async () => Date.parse((await readRecording(scene, scene.cameras[0]!)).recording_start ?? '') || 0
    const firstMs = await eventually('footage', 30_000, firstOf)
    let lowestBytes = Number.POSITIVE_INFINITY
    const deadlineMs = performance.now() + 140_000
    do {
      // When one file ends and the next begins, the completed one can be deleted.
      scene.source.faults.dropConnections()
      for (let i = 0; i < 40; i++) {
        const { bavail, bsize } = await statfs(disk)
        lowestBytes = Math.min(lowestBytes, bavail * bsize)
        await sleep(100)
      }
      assert.notEqual((await readRecording(scene, scene.cameras[0]!)).status, 'ERROR')
    } while ((await firstOf()) < firstMs + 5000 && performance.now() < deadlineMs)
    assert.ok((await firstOf()) >= firstMs + 5000, 'the oldest footage was deleted')
    assert.ok(lowestBytes >= minFreeBytes, `${lowestBytes} bytes were free once`)
    assert.ok(!(await readReasons(scene)).has('disk_full'), 'there is no gap because of a full disk')
    await checkAfterwards(scene)
  })

  test('if a disk is removed or not mounted, nothing is written in its place, and recording resumes when it is back', {
    skip,
  }, async (t) => {
    const mounts = openMounts(t)
    const [real, disk] = [join(mounts.folder, 'real'), join(mounts.folder, 'disk')]
    await mkdir(real)
    mounts.bind(real, disk)
    const scene = await openScene(t, disk, 400_000)
    const { server, source } = scene
    await eventually('all cameras are recorded', 60_000, () => allAre(scene, 'RECORDING'))

    await t.test('a disk that is removed during recording', async () => {
      await sleep(7000) // A disk that is pulled leaves the footage that it has confirmed, which takes up to five seconds.
      mounts.unmount(disk)
      source.faults.dropConnections() // new files
      for (const reason of (await untilErrors(scene)).values()) assert.match(reason, /not there|missing/)
      await checkLive(scene)
      assert.ok(!existsSync(join(disk, 'cameras')), 'nothing is written below the mount point')
      await sleep(3000) // breaks of up to two seconds are no gaps
      mounts.bind(real, disk)
      await eventually('all cameras are recorded again', 60_000, () => allAre(scene, 'RECORDING'))
      await eventually('the gap has its reason', 20_000, async () => (await readReasons(scene)).has('disk_failed'))
    })

    await t.test('a disk that is missing when the server starts', async () => {
      await server.kill()
      mounts.unmount(disk)
      await server.start()
      await untilErrors(scene)
      assert.deepEqual(await readdir(disk), ['server.lock'])
      const before = await readRecording(scene, scene.cameras[0]!)
      mounts.bind(real, disk)
      await eventually('all cameras are recorded again', 60_000, () => allAre(scene, 'RECORDING'))
      assert.equal((await readRecording(scene, scene.cameras[0]!)).recording_start, before.recording_start)
      await eventually('the file that was open at the kill is repaired', 30_000, async () =>
        server.log().includes('recordings left open by a crash have been repaired'),
      )
    })
    await t.test('a disk that is read-only when the server starts', async () => {
      await server.stop()
      mounts.unmount(disk)
      mounts.bind(real, disk, 'ro')
      await server.start()
      for (const reason of (await untilErrors(scene)).values()) assert.match(reason, /read-only/)
      await checkLive(scene)
      mounts.unmount(disk)
      mounts.bind(real, disk)
      await eventually('all cameras are recorded again', 60_000, () => allAre(scene, 'RECORDING'))
    })
    await checkAfterwards(scene)
  })
})

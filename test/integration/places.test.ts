// Recordings on several disks: one that is removed, read-only or full affects its own files only; places are added,
// drained and removed while cameras record; recordings are moved while they are played, and the mover is killed.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Recording } from '../../contract/recording.ts'
import type { Storage } from '../../contract/storage.ts'
import { openFakeCamera } from '../fake-camera/fake-camera.ts'
import { createLoadStreams } from '../fake-camera/source/stream-options.ts'
import { eventually, openServer, type ServerProcess } from '../server-under-test.ts'
import { openMounts, whyNoMounts } from './mounts.ts'
import { beginNewFiles, isWhole, playAll } from './recorded-files.ts'

const skip = whyNoMounts()
const cameraCount = 4
const video = { width: 320, height: 180, framesPerSecond: 15, gopFrames: 15, loopSeconds: 4, bitsPerSecond: 300_000 }

async function openScene(t: TestContext, archive: string) {
  const streams = createLoadStreams(cameraCount, video)
  const source = await openFakeCamera({ streams })
  const server = await openServer('--archive', archive, '--min-free', '0')
  t.after(async () => {
    await server[Symbol.asyncDispose]()
    await source[Symbol.asyncDispose]()
  })
  const cameras: number[] = []
  for (const { name } of streams) {
    const id = await server.addCamera(name, source.url(name))
    await server.request(`/v1/cameras/${id}/recording/`, { method: 'POST', body: { retention: 'P1D' } })
    cameras.push(id)
  }
  const recordings = () =>
    Promise.all(cameras.map(async (id) => (await server.request<Recording>(`/v1/cameras/${id}/recording/`)).json))
  const untilRecorded = (what: string) =>
    eventually(what, 40_000, async () => (await recordings()).every(({ status }) => status === 'RECORDING'))
  const readPlaces = async () => (await server.request<Storage>('/v1/me/storage/')).json.server!.places
  const renewFiles = (times: number) => beginNewFiles({ source, recordings }, times)
  return { source, server, cameras, untilRecorded, readPlaces, renewFiles }
}

async function countFiles(folder: string): Promise<number> {
  const names = await readdir(join(folder, 'cameras'), { recursive: true }).catch(() => [])
  return names.filter((name) => name.endsWith('.mp4')).length
}

async function checkAfterwards(server: ServerProcess, cameras: readonly number[]): Promise<void> {
  for (const id of cameras) await server.request(`/v1/cameras/${id}/recording/`, { method: 'DELETE' })
  let found = ''
  await eventually('all files are complete and match the index', 30_000, async () => {
    const { ok } = await server.command<{ ok: boolean }>('check', '--deep').catch((error: { stdout: string }) => {
      found = error.stdout
      return { ok: false }
    })
    return ok
  }).catch((error) => assert.fail(`${error}: ${found}`))
}

// Each test mostly waits for cameras.
suite('several places', { concurrency: true }, () => {
  test('a disk that is removed, read-only or full affects only its own recordings', {
    skip,
  }, async (t) => {
    const mounts = openMounts(t)
    const first = join(mounts.folder, 'first')
    const second = { real: join(mounts.folder, 'real'), folder: join(mounts.folder, 'second') }
    mounts.mountMemory(second.real, 48)
    mounts.bind(second.real, second.folder)
    const { server, cameras, untilRecorded, readPlaces, renewFiles } = await openScene(t, `${first},${second.folder}`)
    await untilRecorded('all cameras are recorded')
    await renewFiles(2)
    const [inFirst, inSecond] = [await countFiles(first), await countFiles(second.folder)]
    assert.ok(inFirst >= 4 && inSecond >= 4, `${inFirst} and ${inSecond} files`)
    const statesAre = (...states: string[]) =>
      eventually(`the states ${states}`, 60_000, async () => {
        const now = (await readPlaces()).map(({ state }) => state)
        return now.join() === states.join()
      })

    mounts.unmount(second.folder)
    await renewFiles(2)
    await untilRecorded('recording goes on')
    await statesAre('ready', 'away')
    assert.deepEqual(await readdir(second.folder), [], 'nothing is written below the mount point')
    const statuses = await playAll(server, cameras)
    assert.ok(statuses.includes(206) && statuses.includes(503), String(statuses))
    assert.equal(await countFiles(second.real), inSecond, 'what is away is not deleted')

    mounts.bind(second.real, second.folder, 'ro')
    await renewFiles(1)
    await statesAre('ready', 'read_only')
    assert.ok(isWhole(await playAll(server, cameras)))
    assert.equal(await countFiles(second.real), inSecond)

    mounts.unmount(second.folder)
    mounts.bind(second.real, second.folder)
    await statesAre('ready', 'ready')
    // The first tries after a failure are made elsewhere.
    await sleep(10_000)
    await eventually('it is used again', 40_000, async () => {
      await renewFiles(1)
      return (await countFiles(second.real)) > inSecond
    })
    await writeFile(join(second.real, 'filler'), Buffer.alloc(48 * 2 ** 20)).catch(() => {})
    await renewFiles(2)
    await untilRecorded('recording goes on beside a full disk')
    await rm(join(second.real, 'filler'))
    await checkAfterwards(server, cameras)
  })

  test('places are added, drained and removed while cameras record and viewers play', {
    skip,
  }, async (t) => {
    const mounts = openMounts(t)
    const first = join(mounts.folder, 'first')
    const second = join(mounts.folder, 'second')
    const { server, cameras, untilRecorded, readPlaces, renewFiles } = await openScene(t, first)
    await untilRecorded('all cameras are recorded')
    await renewFiles(2)
    const added = await server.command<{ id: number }>('place', 'add', second, '--weight', '1')
    await eventually('files in the new place', 40_000, async () => {
      await renewFiles(1)
      return (await countFiles(second)) >= 2
    })
    await assert.rejects(server.command('place', 'remove', String(added.id)), /first run: nightjar place drain/)

    await server.command('place', 'drain', '1', '--keep-recordings')
    let kept = 0
    await eventually('no new files', 40_000, async () => {
      kept = await countFiles(first)
      await renewFiles(2)
      return (await countFiles(first)) === kept
    })

    let isPlaying = true
    const playing = (async () => {
      const statuses: number[] = []
      while (isPlaying) statuses.push(...(await playAll(server, cameras)))
      return statuses
    })()
    const moved = await server.command<{ moved_files: number; failed_files: unknown[] }>('place', 'drain', '1')
    isPlaying = false
    assert.ok(isWhole(await playing), 'players notice nothing')
    assert.deepEqual([moved.moved_files, moved.failed_files], [kept, []])
    assert.equal(await countFiles(first), 0)
    assert.ok(isWhole(await playAll(server, cameras)))
    const [empty] = await readPlaces()
    assert.deepEqual([empty!.used_bytes, empty!.is_draining], [0, true])
    await checkAfterwards(server, cameras)
  })

  test('kill -9 of the mover at any moment loses and doubles nothing', async (t) => {
    const mounts = openMounts(t)
    const first = join(mounts.folder, 'first')
    const second = join(mounts.folder, 'second')
    await mkdir(first)
    const { server, cameras, untilRecorded, renewFiles } = await openScene(t, first)
    await untilRecorded('all cameras are recorded')
    await renewFiles(5)
    for (const id of cameras) await server.request(`/v1/cameras/${id}/recording/`, { method: 'DELETE' })
    await server.stop()
    await server.command('place', 'add', second)
    const count = await countFiles(first)
    // Slow enough that a move takes some seconds.
    const move = ['archive', 'move', '--from', '1', '--rate', '200kB', '--data', server.dataDir, '--archive', first]
    for (let kills = 0; kills < 8; kills++) {
      const mover = spawn('./nightjar', move, { stdio: 'ignore' })
      const ended = once(mover, 'exit')
      // Which takes longer the busier the machine is.
      const before = await countFiles(second)
      while (mover.exitCode === null && (await countFiles(second)) === before) await sleep(20)
      await sleep(kills * 37)
      mover.kill('SIGKILL')
      await ended
    }
    assert.ok((await countFiles(first)) > 0 && (await countFiles(second)) > 0, 'it was interrupted')
    await server.command('archive', 'move', '--from', '1', '--archive', first)
    assert.deepEqual([await countFiles(first), await countFiles(second)], [0, count])
    const { ok } = await server.command<{ ok: boolean }>('check', '--deep', '--archive', first)
    assert.ok(ok)
  })
})

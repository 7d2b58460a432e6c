// Records to disks that say and refuse other things than a local disk with plenty of space: no more files, a quota, no
// syncs of folders, no size. The library odd-disk.c, which the server loads, makes one of any.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, suite, type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Recording, Timeline } from '../../contract/recording.ts'
import type { Storage } from '../../contract/storage.ts'
import { openFakeCamera } from '../fake-camera/fake-camera.ts'
import { eventually, openServerWith } from '../server-under-test.ts'
import { openMounts, whyNoMounts } from './mounts.ts'

const folder = mkdtempSync(join(tmpdir(), 'nightjar-odd-'))
after(() => rmSync(folder, { recursive: true }))

/** Undefined without a compiler. */
const library = build()

function build(): string | undefined {
  const source = fileURLToPath(new URL('./odd-disk.c', import.meta.url))
  const built = join(folder, 'odd-disk.so')
  const { status, stderr, error } = spawnSync(
    'gcc',
    ['-shared', '-fPIC', '-O1', '-Wall', '-o', built, source, '-ldl'],
    {
      encoding: 'utf8',
    },
  )
  if (error) return undefined
  assert.equal(status, 0, stderr)
  return built
}

const stream = { name: 'yard', width: 320, height: 180, framesPerSecond: 10, gopFrames: 10, loopSeconds: 4 }

/** `odd`: variables of odd-disk.c. */
async function record(t: TestContext, archive: string, odd: Readonly<Record<string, string>> = {}) {
  const source = await openFakeCamera({ streams: [stream] })
  const environment = library ? { LD_PRELOAD: library, ODD_FOLDER: archive, ...odd } : {}
  const server = await openServerWith(environment, '--archive', archive, '--rate-limit', '0')
  t.after(async () => {
    await server[Symbol.asyncDispose]()
    await source[Symbol.asyncDispose]()
  })
  const id = await server.addCamera('Yard', source.url('yard'), '--record', 'P1D')
  const read = async () => (await server.request<Recording>(`/v1/cameras/${id}/recording/`)).json
  const is = async (status: string) => (await read()).status === status
  const timeline = async () => {
    const time = (ms: number) => new Date(ms).toISOString()
    const range = `start=${time(Date.now() - 3_600_000)}&end=${time(Date.now() + 1000)}`
    return (await server.request<Timeline>(`/v1/cameras/${id}/recording/timeline/?${range}`)).json
  }
  /** Ends its file, and begins another. */
  const turnOver = async () => {
    await server.request(`/v1/cameras/${id}/recording/stop/`, { method: 'POST' })
    // A recording that is turned on again at once goes on in its file.
    await eventually('it is not recorded', 30_000, () => is('READY'))
    await server.request(`/v1/cameras/${id}/recording/start/`, { method: 'POST' })
    await eventually('it is recorded', 30_000, () => is('RECORDING'))
  }
  return { server, id, read, is, timeline, turnOver }
}

suite('odd disks', { concurrency: 3, skip: library === undefined && 'there is no C compiler' }, () => {
  test('a file system without room for more files keeps its newest recordings and takes new ones', {
    skip: whyNoMounts(),
  }, async (t) => {
    const mounts = openMounts(t)
    const disk = join(mounts.folder, 'disk')
    mounts.mountMemory(disk, 64, 'nr_inodes=64')
    const { server, is, timeline, turnOver } = await record(t, disk)
    await eventually('it is recorded', 60_000, () => is('RECORDING'))
    for (let i = 0; i < 12; i++) await turnOver()
    // Other programs take all that are left.
    await mkdir(join(disk, 'of others'))
    let others = 0
    for (; others < 64; others++) {
      const isRefused = await writeFile(join(disk, 'of others', String(others)), '').then(
        () => false,
        () => true,
      )
      if (isRefused) break
    }
    assert.ok(others < 64)
    for (let i = 0; i < 3; i++) await turnOver()
    const { segments } = await timeline()
    assert.ok(segments.length > 0)
    assert.match(server.log(), /recordings were deleted before they expired/)
  })

  test('where a quota refuses more files although space is free, the oldest make room, for hours', async (t) => {
    const archive = join(folder, 'quota')
    const { server, is, turnOver } = await record(t, archive, { ODD_MAX_FILES: '14' })
    await eventually('it is recorded', 60_000, () => is('RECORDING'))
    for (let i = 0; i < 16; i++) await turnOver()
    assert.match(server.log(), /a place takes no more although space is free/)
    const { ok } = await server.command<{ ok: boolean }>('check', '--archive', archive).catch(() => ({ ok: false }))
    assert.equal(ok, true)
  })

  for (const code of ['EINVAL', 'ENOENT'] as const)
    test(`a share that cannot sync folders (${code}) is recorded to, with one warning`, async (t) => {
      const archive = join(folder, `share-${code}`)
      const { server, is, timeline, turnOver } = await record(t, archive, {
        ODD_FOLDER_SYNC: String(constants.errno[code]),
      })
      await eventually('it is recorded', 60_000, () => is('RECORDING'))
      await turnOver()
      assert.ok((await timeline()).segments.length > 0)
      await server.stop()
      await server.start()
      await eventually('it is recorded again', 60_000, () => is('RECORDING'))
      assert.equal(
        server.log().match(/cannot confirm that new files are on the disk/g)?.length,
        2,
        'once for each start',
      )
      assert.doesNotMatch(server.log(), /recording failed/)
    })

  test('a disk that fails to sync folders (EIO) is not recorded to as if all were well', async (t) => {
    const archive = join(folder, 'broken')
    const { read } = await record(t, archive, { ODD_FOLDER_SYNC: String(constants.errno.EIO) })
    const failed = await eventually('the error is reported', 60_000, async () => {
      const found = await read()
      return found.status === 'ERROR' && found
    })
    assert.match(String(failed.status_reason), /disk/)
  })

  test('a file system without a size is recorded to, and shown without one', async (t) => {
    const archive = join(folder, 'sizeless')
    const { server, is, timeline } = await record(t, archive, { ODD_SIZE: 'none' })
    await eventually('it is recorded', 60_000, () => is('RECORDING'))
    await eventually('footage is listed', 30_000, async () => (await timeline()).segments.length > 0)
    const { json } = await server.request<Storage>('/v1/me/storage/')
    assert.equal(json.server!.disk_bytes, null)
  })

  test('the size of a shared folder of a virtual machine is counted in its own unit (nodejs/node#62277)', async (t) => {
    const archive = join(folder, 'shared')
    const { server, is } = await record(t, archive, { ODD_SIZE: 'shared' })
    await eventually('it is recorded', 60_000, () => is('RECORDING'))
    const { json } = await server.request<Storage>('/v1/me/storage/')
    const { stdout } = spawnSync('df', ['--output=size', '-B1', archive], { encoding: 'utf8' })
    assert.equal(json.server!.disk_bytes, Number(stdout.split('\n')[1]))
  })
})

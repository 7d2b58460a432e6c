// Another program deletes, truncates, changes and swaps files of the archive: players get errors without delay, nobody
// sees another camera's footage, `check` reports the faults and `check --fix` repairs them.

import assert from 'node:assert/strict'
import { copyFile, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Recording } from '../../contract/recording.ts'
import { listDayFiles, listDays } from '../../server/archive/listing.ts'
import { scanBoxes } from '../../server/media/mp4/box-scanner.ts'
import { FolderFiles } from '../../server/places/folder-files.ts'
import { type FakeCamera, openFakeCamera } from '../fake-camera/fake-camera.ts'
import { parsePlaylist, type ReadEntry } from '../playback/parse-playlist.ts'
import { eventually, openServerHere, type ServerUnderTest } from '../server-under-test.ts'

type Check = { ok: boolean; missing_files: string[]; size_mismatches: unknown[]; damaged_files: { detail: string }[] }
type Fixed = Check & { fixes: { action: string; path: string }[] }

let source: FakeCamera
let server: ServerUnderTest
let camera: number
let neighbour: number
let archiveDir: string

before(async () => {
  const size = { width: 320, height: 180, gopFrames: 15 }
  // Uses different frames, so that no part of one camera's footage also occurs in the other's.
  const streams = [
    { name: 'mine', scene: 'yard', ...size },
    { name: 'theirs', scene: 'door', ...size },
  ] as const
  source = await openFakeCamera({ streams })
  server = await openServerHere()
  archiveDir = join(server.dataDir, 'archive')
})

after(async () => {
  await server[Symbol.asyncDispose]()
  await source[Symbol.asyncDispose]()
})

async function addCamera(name: string): Promise<number> {
  return server.addCamera(name, source.url(name))
}

const readRecording = async (id: number) => (await server.request<Recording>(`/v1/cameras/${id}/recording/`)).json

const lengthMs = ({ recording_start, recording_end }: Recording) =>
  recording_start === null ? 0 : Date.parse(recording_end!) - Date.parse(recording_start)

async function listFiles(id: number): Promise<string[]> {
  const files = new FolderFiles({ folder: archiveDir, mark: '' })
  const days = await listDays(files, id)
  return (await Promise.all(days.map(({ name }) => listDayFiles(files, id, name)))).flat()
}

/** Records a file of some seconds and completes it. */
async function recordFile(id: number): Promise<void> {
  const count = (await listFiles(id)).length
  const openBefore = await countOpenFiles()
  await server.command('camera', 'record', String(id), '--retention', 'P1D')
  await eventually('a new file', 20_000, async () => (await listFiles(id)).length > count)
  const startMs = Date.now()
  await eventually('some seconds of footage', 30_000, async () => {
    const { recording_end } = await readRecording(id)
    return recording_end !== null && Date.parse(recording_end) > startMs + 4000
  })
  await server.command('camera', 'record', String(id), '--off')
  // The server checks for changes by the command line twice a second; enabled again too soon, recording would never
  // stop.
  await eventually('the file is closed', 20_000, async () => (await countOpenFiles()) === openBefore)
}

async function countOpenFiles(): Promise<number> {
  const { text } = await server.request('/metrics')
  return Number(/^nightjar_open_segments (\d+)$/m.exec(text)![1])
}

/** If the check finds problems, its exit code is not 0. */
async function runCheck<T = Check>(...args: string[]): Promise<T> {
  return server.command<T>('check', ...args).catch((error: { stdout: string }) => JSON.parse(error.stdout) as T)
}

/** Returns all entries of the recording; those that could not be loaded are undefined. */
async function playAll(): Promise<{ entry: ReadEntry; bytes: Buffer | undefined }[]> {
  await server.command('camera', 'record', String(camera), '--retention', 'P1D')
  const time = (ms: number) => new Date(ms).toISOString()
  const path = `/v1/cameras/${camera}/recording/stream/?start=${time(Date.now() - 3600_000)}&end=${time(Date.now() - 1000)}`
  const { url } = (await server.request<{ url: string }>(path)).json
  const playlist = await server.request(url, { authorization: null })
  const { entries } = parsePlaylist(playlist.text)
  const played = entries.map(async (entry) => {
    const range = `bytes=${entry.offset}-${entry.offset + entry.bytes - 1}`
    const target = new URL(entry.uri, url).href
    const answer = await server
      .request(target, { authorization: null, headers: { range } })
      .catch((error: NodeJS.ErrnoException) => error)
    const isWhole = 'status' in answer && answer.status === 206 && answer.bytes.length === entry.bytes
    return { entry, bytes: isWhole ? answer.bytes : undefined }
  })
  return Promise.all(played)
}

/**
 * Returns the position of a frame's byte in the middle of a file. A byte of a box header would be a different fault.
 */
function placeOfSample(file: Uint8Array): number {
  const { offset, bytes } = scanBoxes(file).boxes.findLast(
    ({ type, offset }) => type === 'mdat' && offset < file.length / 2,
  )!
  return offset + Math.floor(bytes / 2)
}

test('archive files that are changed by another program', async (t) => {
  camera = await addCamera('mine')
  neighbour = await addCamera('theirs')
  await server.command('camera', 'record', String(neighbour), '--retention', 'P1D')
  await eventually('the neighbour is recorded', 20_000, async () => (await countOpenFiles()) === 1)
  for (let i = 0; i < 5; i++) await recordFile(camera)
  await eventually('the neighbour has footage', 20_000, async () => lengthMs(await readRecording(neighbour)) > 20_000)
  await server.command('camera', 'record', String(neighbour), '--off')
  const [removed, shortened, changed, exchanged, untouched] = (await listFiles(camera)) as [
    string,
    string,
    string,
    string,
    string,
  ]
  const full = (path: string) => join(archiveDir, path)

  await t.test('all footage plays before the changes', async () => {
    const played = await playAll()
    assert.ok(played.length >= 5)
    for (const { entry, bytes } of played) assert.ok(bytes, entry.uri)
    await server.command('camera', 'record', String(camera), '--off')
  })

  await rm(full(removed))
  await truncate(full(shortened), Math.floor((await stat(full(shortened))).size / 2))
  const bytes = await readFile(full(changed))
  bytes[placeOfSample(bytes)]! ^= 0xff
  await writeFile(full(changed), bytes)
  const [theirs] = await listFiles(neighbour)
  const theirBytes = await readFile(full(theirs!))
  await copyFile(full(theirs!), full(exchanged))

  await t.test('players get errors without delay and never see another camera', async () => {
    const played = await playAll()
    const missing = played.filter((each) => each.bytes === undefined)
    assert.ok(missing.length >= 3, `${missing.length} of ${played.length} could not be had`)
    assert.ok(played.some((each) => each.bytes !== undefined))
    for (const { bytes: each } of played) {
      // Skip the box headers, which are the same for every camera.
      const sample = each?.subarray(Math.floor(each.length / 2), Math.floor(each.length / 2) + 200)
      assert.ok(!sample || !theirBytes.includes(sample), "the neighbour's footage")
    }
    await server.command('camera', 'record', String(camera), '--off')
    await eventually('recording is off', 20_000, async () => (await runCheck('--deep')).size_mismatches.length >= 1)
  })

  await t.test('the check reports each fault, and fixing requires that the server is stopped', async () => {
    const report = await runCheck('--deep')
    assert.equal(report.ok, false)
    assert.deepEqual(report.missing_files, [removed])
    assert.equal(report.size_mismatches.length, 2)
    assert.match(report.damaged_files[0]!.detail, /checksum/)
    const refused = await runCheck<{ error: { kind: string; message: string } }>('--fix')
    assert.equal(refused.error.kind, 'conflict')
    assert.match(refused.error.message, /stop it first/)
  })

  await t.test('after the fix everything that is listed plays', async () => {
    await server.stop()
    const { ok, fixes } = await runCheck<Fixed>('--deep', '--fix')
    assert.equal(ok, true)
    const actions = Object.fromEntries(fixes.map(({ action, path }) => [path, action]))
    assert.equal(actions[removed], 'forgotten')
    assert.equal(actions[shortened], 'cut')
    assert.equal(actions[changed], 'split')
    assert.equal(actions[exchanged], 'set_aside')
    assert.equal(actions[untouched], undefined)
    await server.start()
    const played = await playAll()
    for (const { entry, bytes: each } of played) assert.ok(each, entry.uri)
    assert.ok(played.length >= 3)
  })
})

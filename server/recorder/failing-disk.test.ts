// Every operation of the disk fails in turn, followed by a power failure. What the index promises can be read without
// the page cache, and everything that the disk has confirmed is listed.

import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { test } from 'node:test'
import { createRandom } from '../../test/fake-camera/scene/random.ts'
import { MemorySegmentRows } from '../../test/support/archive/memory-segment-rows.ts'
import { onePlace, oneTarget, testMark } from '../../test/support/archive/one-place.ts'
import { syntheticFormat, syntheticFrames } from '../../test/support/media/synthetic-frames.ts'
import { PageCacheModel } from '../../test/support/recorder/page-cache-model.ts'
import { Catalog } from '../archive/catalog.ts'
import { checkArchive } from '../archive/check.ts'
import { scanSegmentFile } from '../archive/segment-scan.ts'
import { type Clock, systemClock } from '../base/clock.ts'
import { silentLogger } from '../base/log.ts'
import type { Fragment } from '../model/segment.ts'
import { markFolder } from '../places/place-folder.ts'
import { CameraRecorder } from './recorder.ts'
import type { RecorderEvents } from './recorder-events.ts'
import type { RecordingDisk } from './recording-disk.ts'

const archiveDir = '/archive'
const syncIntervalMs = 2500
const durationMs = 16_000

/** A single operation fails, or also all later ones, or also all later syncs. */
type Mode = 'once' | 'for good' | 'syncs'

type Entry =
  | { readonly kind: 'operation'; readonly name: string; readonly apply: (model: PageCacheModel) => void }
  | {
      readonly kind: 'event'
      readonly report: (catalog: Catalog) => void
      readonly written?: { readonly path: string; readonly fragment: Fragment }
      readonly broken?: { readonly path: string; readonly bytes: number }
    }

type Journal = {
  readonly entries: readonly Entry[]
  readonly operations: number
  readonly droppedFrames: number
  readonly frames: number
}

/** Records about three files. The operation number `failAt` fails. */
async function recordJournal(failAt: number, mode: Mode, seed: number): Promise<Journal> {
  const entries: Entry[] = []
  const random = createRandom(seed)
  let operations = 0
  let now = 0
  const clock: Clock = { ...systemClock, monotonicMs: () => now }
  const perform = async (name: string, apply: (model: PageCacheModel, isFailing: boolean) => void) => {
    const at = ++operations
    const isSync = name.startsWith('sync')
    const isFailing = at === failAt || (at > failAt && (mode === 'for good' || (mode === 'syncs' && isSync)))
    await new Promise(setImmediate)
    entries.push({ kind: 'operation', name, apply: (model) => apply(model, isFailing) })
    if (isFailing) throw Object.assign(new Error(`${name} fails`), { code: 'EIO' })
  }
  const local = (path: string) => relative(archiveDir, path)
  const disk: RecordingDisk = {
    async createFile(fullPath) {
      const path = local(fullPath)
      await perform('create', (model, isFailing) => {
        if (!isFailing) model.create(path)
      })
      return {
        write: (buffers, position) => {
          const bytes = Buffer.concat(buffers)
          return perform('write', (model, isFailing) => model.write(path, position, bytes, isFailing))
        },
        truncate: (bytes) => perform('truncate', (model, isFailing) => model.truncate(path, bytes, isFailing)),
        sync: () => perform('sync', (model, isFailing) => model.sync(path, isFailing)),
        close: () => perform('close', () => {}),
      }
    },
    removeFile: (path) => perform('remove', (model, isFailing) => model.remove(local(path), isFailing)),
    syncFolder: (path) =>
      perform('sync of the folder', (model, isFailing) => model.syncFolder(dirname(local(path)), isFailing)),
  }
  const note = (report: (catalog: Catalog) => void, more: Partial<Entry> = {}) =>
    void entries.push({ kind: 'event', report, ...more } as Entry)
  const events: RecorderEvents = {
    segmentOpened: (segment) => note((catalog) => catalog.segmentOpened(segment)),
    fragmentWritten: (id, path, fragment) =>
      note((catalog) => catalog.fragmentWritten(id, path, fragment), { written: { path, fragment } }),
    segmentClosed: (id, path, checksum, indexBytes) =>
      note((catalog) => catalog.segmentClosed(id, path, checksum, indexBytes)),
    segmentBroken: (id, path, confirmed) =>
      note((catalog) => catalog.segmentBroken(id, path, confirmed), { broken: { path, bytes: confirmed.bytes } }),
    statusChanged: () => {},
    gapChanged: () => {},
  }
  const recorder = new CameraRecorder({
    ...{ cameraId: 1, targets: oneTarget(archiveDir, disk), clock, log: silentLogger, events, random },
    ...{ syncIntervalMs, segmentMs: 6000 },
  })
  const options = { width: 160, height: 128 } as const
  recorder.push({ kind: 'start', runId: 'run', format: syntheticFormat(options) })
  let frames = 0
  for (const frame of syntheticFrames(options)) {
    if (frame.dts90k >= durationMs * 90) break
    // The disk is too slow now and then, so that fragments wait.
    while (frame.isKey && recorder.stats().queuedBytes > 0 && random() < 0.9) await new Promise(setImmediate)
    if (frame.isKey) recorder.tick()
    now = frame.dts90k / 90
    recorder.push(frame)
    frames++
  }
  await recorder.close()
  return { entries, operations, droppedFrames: recorder.stats().droppedFrames, frames }
}

const later: Clock = { ...systemClock, nowMs: () => Date.now() + 60_000 }

async function openCopy(root: string, files: ReadonlyMap<string, Buffer>) {
  const folder = await mkdtemp(join(root, 'run-'))
  await markFolder(folder, testMark)
  for (const [path, bytes] of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), bytes)
  }
  return {
    rows: new MemorySegmentRows(),
    archiveDir: folder,
    places: onePlace(folder),
    clock: later,
    log: silentLogger,
  }
}

type Copy = Awaited<ReturnType<typeof openCopy>>

/** Reports the events so far to the index. */
async function reportToIndex(copy: Copy, entries: readonly Entry[]): Promise<void> {
  const catalog = new Catalog(copy)
  for (const entry of entries) if (entry.kind === 'event') entry.report(catalog)
  await catalog.close()
}

/** Checks that everything in closed rows can be read byte for byte. */
async function checkPromises({ rows, archiveDir }: Copy, context: string): Promise<void> {
  for (const { path, fragments, isClosed, checksum } of rows.all) {
    if (!isClosed) continue
    const scan = await scanSegmentFile(join(archiveDir, path), { isVerified: true, cameraId: 1 })
    const readable = new Set(scan.fragments.map(placeOf))
    for (const fragment of fragments)
      assert.ok(readable.has(placeOf(fragment)), `${context}: ${path} ${placeOf(fragment)}`)
    const isWhole = scan.fragments.length === fragments.length
    if (isWhole && checksum !== undefined) assert.equal(scan.checksum, checksum, `${context}: checksum of ${path}`)
  }
}

function placeOf({ offset, bytes, start90k, startMs }: Fragment): string {
  return [offset, bytes, start90k, startMs].join(' ')
}

/** Returns the fragments in the row of each file. */
function listPlaces({ rows }: Copy): Set<string> {
  return new Set(rows.all.flatMap(({ path, fragments }) => fragments.map((fragment) => `${path} ${placeOf(fragment)}`)))
}

async function checkPowerCut(root: string, entries: readonly Entry[], seed: number, context: string): Promise<number> {
  const model = createModel(entries, seed)
  const copy = await openCopy(root, model.afterPowerCut())
  await reportToIndex(copy, entries)
  await checkPromises(copy, context)
  await new Catalog(copy).repairOpen([{ id: 1, createdAtMs: 0 }])
  await checkPromises(copy, `${context}, repaired`)
  const listed = listPlaces(copy)
  let confirmed = 0
  for (const entry of entries) {
    if (entry.kind !== 'event' || !entry.written) continue
    const { path, fragment } = entry.written
    if (fragment.offset + fragment.bytes > model.promisedBytes(path)) continue
    confirmed++
    assert.ok(listed.has(`${path} ${placeOf(fragment)}`), `${context}: confirmed, but not listed: ${path}`)
  }
  const broken = new Set(
    entries.flatMap((entry) => (entry.kind === 'event' && entry.broken ? [entry.broken.path] : [])),
  )
  const report = await checkArchive({ ...copy, isDeep: true })
  // The truncation of an abandoned file may be lost. In this case the file is longer than its row says.
  const others = [...report.sizeMismatches, ...report.damagedFiles].filter(({ path }) => !broken.has(path))
  assert.deepEqual([report.missingFiles, others, report.wrongCounters], [[], [], []], context)
  await rm(copy.archiveDir, { recursive: true })
  return confirmed
}

/** The process dies, the next one repairs the files through the page cache, and then the power fails. */
async function checkKill(root: string, entries: readonly Entry[], seed: number, context: string): Promise<void> {
  const last = entries.at(-1)
  // Between a failed sync and the truncation of the file, the result is undefined.
  if (last?.kind === 'operation' && last.name.startsWith('sync')) return
  const model = createModel(entries, seed)
  const copy = await openCopy(root, model.cached())
  await reportToIndex(copy, entries)
  await new Catalog(copy).repairOpen([{ id: 1, createdAtMs: 0 }])
  for (const { path, fragments } of copy.rows.all) {
    if (!model.hasFailedSync(path)) continue
    for (const { offset, bytes } of fragments)
      assert.ok(
        offset + bytes <= model.promisedBytes(path),
        `${context}: ${path} at ${offset} is only in the page cache`,
      )
  }
  await rm(copy.archiveDir, { recursive: true })
}

/** Checks that each frame is in a valid file or was counted as dropped. */
function checkCounts({ entries, droppedFrames, frames }: Journal, context: string): void {
  const durations = new Map<string, number>()
  for (const entry of entries) {
    if (entry.kind !== 'event') continue
    const { written, broken } = entry
    if (written) durations.set(`${written.path} ${written.fragment.offset}`, written.fragment.durationMs)
    if (!broken) continue
    for (const key of [...durations.keys()]) {
      const [path, offset] = key.split(' ')
      if (path === broken.path && Number(offset) >= broken.bytes) durations.delete(key)
    }
  }
  const recorded = [...durations.values()].reduce((sum, each) => sum + each, 0) / 40
  assert.equal(recorded + droppedFrames, frames, context)
}

function createModel(entries: readonly Entry[], seed: number): PageCacheModel {
  const model = new PageCacheModel(createRandom(seed))
  for (const entry of entries) if (entry.kind === 'operation') entry.apply(model)
  return model
}

for (const mode of ['once', 'for good', 'syncs'] as const) {
  test(`the index lists only what can be read when each disk operation fails in turn (${mode})`, async () => {
    const root = await mkdtemp(join(tmpdir(), 'nightjar-failing-'))
    try {
      const random = createRandom(7)
      const { operations } = await recordJournal(0, 'once', 1)
      assert.ok(operations > 25, `${operations} operations`)
      const failed = new Set<string>()
      let confirmed = 0
      for (let failAt = 1; failAt <= operations; failAt++) {
        const journal = await recordJournal(failAt, mode, failAt)
        const { entries } = journal
        checkCounts(journal, `operation ${failAt}`)
        const names = entries.flatMap((entry) => (entry.kind === 'operation' ? [entry.name] : []))
        if (names[failAt - 1]) failed.add(names[failAt - 1]!)
        const cuts = [entries.length, ...Array.from({ length: 2 }, () => 1 + Math.floor(random() * entries.length))]
        for (const cut of cuts) {
          const context = `operation ${failAt} (${names[failAt - 1]}), ${cut} of ${entries.length} entries`
          const before = entries.slice(0, cut)
          const seed = Math.floor(random() * 2 ** 31)
          confirmed += await checkPowerCut(root, before, seed, `${context}, power cut`)
          await checkKill(root, before, seed, `${context}, kill`)
        }
      }
      assert.deepEqual([...failed].sort(), ['close', 'create', 'sync', 'sync of the folder', 'write'])
      assert.ok(confirmed > operations, `${confirmed} confirmed fragments were checked`)
    } finally {
      await rm(root, { recursive: true })
    }
  })
}

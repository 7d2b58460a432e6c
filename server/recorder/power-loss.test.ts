// The power fails at any moment, and an arbitrary part of the unsynced data survives. After the next start, all synced
// footage is listed, damaged data is not, and nothing else is claimed.

import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { createRandom } from '../../test/fake-camera/scene/random.ts'
import { MemorySegmentRows } from '../../test/support/archive/memory-segment-rows.ts'
import { onePlace, oneTarget, testMark } from '../../test/support/archive/one-place.ts'
import { syntheticFormat, syntheticFrames } from '../../test/support/media/synthetic-frames.ts'
import { Catalog } from '../archive/catalog.ts'
import { checkArchive, isClean } from '../archive/check.ts'
import { type Clock, systemClock } from '../base/clock.ts'
import { silentLogger } from '../base/log.ts'
import type { Fragment } from '../model/segment.ts'
import { markFolder } from '../places/place-folder.ts'
import { CameraRecorder } from './recorder.ts'
import type { RecorderEvents } from './recorder-events.ts'
import type { RecordingDisk } from './recording-disk.ts'

const syncIntervalMs = 5000
const pageBytes = 4096
const archiveDir = '/archive'

type Entry = { readonly atMs: number } & (
  | { kind: 'create' | 'sync' | 'syncFolder'; path: string }
  | { kind: 'write'; path: string; position: number; bytes: Buffer }
  | { kind: 'event'; report: (events: Catalog) => void; fragment?: Fragment; path: string }
)

/** Records three files, with all disk operations and all events for the index in order. */
async function recordJournal(): Promise<Entry[]> {
  const journal: Entry[] = []
  let now = 0
  const clock: Clock = { ...systemClock, monotonicMs: () => now }
  const note = (entry: Entry) => void journal.push(entry)
  const local = (path: string) => relative(archiveDir, path)
  const disk: RecordingDisk = {
    async createFile(fullPath) {
      const path = local(fullPath)
      note({ kind: 'create', path, atMs: now })
      return {
        write: async (buffers, position) =>
          note({ kind: 'write', path, position, bytes: Buffer.concat(buffers), atMs: now }),
        truncate: async () => assert.fail('no operation fails in this test'),
        sync: async () => note({ kind: 'sync', path, atMs: now }),
        close: async () => {},
      }
    },
    removeFile: async () => assert.fail('no operation fails in this test'),
    syncFolder: async (path) => note({ kind: 'syncFolder', path: dirname(local(path)), atMs: now }),
  }
  const events: RecorderEvents = {
    segmentOpened: (segment) =>
      note({ kind: 'event', report: (catalog) => catalog.segmentOpened(segment), path: segment.path, atMs: now }),
    fragmentWritten: (id, path, fragment) =>
      note({ kind: 'event', report: (c) => c.fragmentWritten(id, path, fragment), fragment, path, atMs: now }),
    segmentClosed: (id, path, checksum, indexBytes) =>
      note({
        kind: 'event',
        report: (catalog) => catalog.segmentClosed(id, path, checksum, indexBytes),
        path,
        atMs: now,
      }),
    segmentBroken: () => assert.fail('no operation fails in this test'),
    statusChanged: () => {},
    gapChanged: () => {},
  }
  const recorder = new CameraRecorder({
    ...{ cameraId: 1, targets: oneTarget(archiveDir, disk), clock, log: silentLogger, events },
    ...{ syncIntervalMs, segmentMs: 20_000 },
  })
  const options = { width: 160, height: 128 } as const
  recorder.push({ kind: 'start', runId: 'run', format: syntheticFormat(options) })
  for (const frame of syntheticFrames(options)) {
    if (frame.dts90k >= 50 * 90_000) break
    if (frame.isKey) {
      while (recorder.stats().queuedBytes > 0) await new Promise(setImmediate)
      recorder.tick()
    }
    now = frame.dts90k / 90
    recorder.push(frame)
  }
  await recorder.close()
  return journal
}

type FileState = { bytes: Buffer; syncedBytes: number; isNameSynced: boolean }

/** The written data after these entries, and the part of it that is durable. */
function replay(entries: readonly Entry[]): Map<string, FileState> {
  const files = new Map<string, FileState>()
  for (const entry of entries) {
    if (entry.kind === 'create') {
      files.set(entry.path, { bytes: Buffer.alloc(0), syncedBytes: 0, isNameSynced: false })
    } else if (entry.kind === 'write') {
      const file = files.get(entry.path)!
      assert.equal(entry.position, file.bytes.length, 'files are only appended to')
      file.bytes = Buffer.concat([file.bytes, entry.bytes])
    } else if (entry.kind === 'sync') {
      const file = files.get(entry.path)!
      file.syncedBytes = file.bytes.length
    } else if (entry.kind === 'syncFolder') {
      for (const [path, file] of files) if (dirname(path) === entry.path) file.isNameSynced = true
    }
  }
  return files
}

/** Returns the content of a file after a power failure; undefined if the file is lost. */
function lose({ bytes, syncedBytes, isNameSynced }: FileState, random: () => number): Buffer | undefined {
  if (!isNameSynced && random() < 0.5) return undefined
  const length = [syncedBytes, bytes.length, syncedBytes + Math.floor(random() * (bytes.length - syncedBytes))][
    Math.floor(random() * 3)
  ]!
  const left = Buffer.from(bytes.subarray(0, length))
  for (let at = syncedBytes; at < length; at = (Math.floor(at / pageBytes) + 1) * pageBytes) {
    if (random() < 0.3) left.fill(0, at, Math.min(length, (Math.floor(at / pageBytes) + 1) * pageBytes))
  }
  return left
}

test('a power failure loses no more than the sync interval, and the index lists what was recorded', async () => {
  const root = await mkdtemp(join(tmpdir(), 'nightjar-power-'))
  try {
    const journal = await recordJournal()
    assert.ok(journal.filter(({ kind }) => kind === 'create').length >= 3)
    let rounds = 0
    let torn = 0
    await fc.assert(
      fc.asyncProperty(fc.nat(journal.length), fc.integer(), async (cut, seed) => {
        const random = createRandom(seed)
        const archiveDir = join(root, String(rounds++))
        const place = { rows: new MemorySegmentRows(), archiveDir, places: onePlace(archiveDir), log: silentLogger }
        await mkdir(place.archiveDir)
        await markFolder(place.archiveDir, testMark)
        const before = journal.slice(0, cut)
        for (const [path, file] of replay(before)) {
          const left = lose(file, random)
          if (!left) continue
          if (!left.equals(file.bytes)) torn++
          await mkdir(dirname(join(place.archiveDir, path)), { recursive: true })
          await writeFile(join(place.archiveDir, path), left)
        }
        // The last row, or its closing, may be lost.
        const reported = before.filter((entry) => entry.kind === 'event')
        const clock: Clock = { ...systemClock, nowMs: () => Date.now() + 60_000 }
        const catalog = new Catalog({ ...place, clock })
        for (const { report } of random() < 0.5 ? reported : reported.slice(0, -1)) report(catalog)
        await catalog.close()

        await new Catalog({ ...place, clock }).repairOpen([{ id: 1, createdAtMs: 0 }])
        const report = await checkArchive({ ...place, clock, isDeep: true })
        assert.ok(isClean(report), JSON.stringify(report))
        const listed = new Set(
          place.rows.all.flatMap(({ path, fragments }) => fragments.map((fragment) => key(path, fragment))),
        )
        const written = new Set(
          journal.flatMap((entry) =>
            entry.kind === 'event' && entry.fragment ? [key(entry.path, entry.fragment)] : [],
          ),
        )
        for (const each of listed) assert.ok(written.has(each), `${each} was recorded`)
        const cutMs = journal[cut - 1]?.atMs ?? 0
        for (const entry of before) {
          if (entry.kind !== 'event' || !entry.fragment || entry.atMs >= cutMs - syncIntervalMs) continue
          assert.ok(
            listed.has(key(entry.path, entry.fragment)),
            `${entry.path} at ${entry.atMs}, power lost at ${cutMs}`,
          )
        }
      }),
      { numRuns: 60 },
    )
    assert.ok(torn > 10, `${torn} files differed from what was written`)
  } finally {
    await rm(root, { recursive: true })
  }
})

/** The duration is left out: before a repair it lasts to the next fragment, and after it, it is that of the frames. */
function key(path: string, { offset, bytes, start90k, startMs }: Fragment): string {
  return [path, offset, bytes, start90k, startMs].join(' ')
}

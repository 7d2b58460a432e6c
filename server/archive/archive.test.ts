import assert from 'node:assert/strict'
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { type Clock, systemClock } from '../base/clock.ts'
import { silentLogger } from '../base/log.ts'
import { writeInitSegment } from '../media/mp4/init-segment.ts'
import { writeFragmentHead } from '../media/mp4/media-fragment.ts'
import { syntheticFormat, syntheticFrames, syntheticStartMs } from '../media/mp4/synthetic-frames.ts'
import type { Fragment } from '../model/segment.ts'
import { Catalog } from './catalog.ts'
import { checkArchive, isClean } from './check.ts'
import { findCameraOfPath, segmentPath } from './layout.ts'
import { MemorySegmentRows } from './memory-segment-rows.ts'
import { applyRetention } from './retention.ts'
import type { OpenSegment } from './segment-file.ts'
import { scanSegmentFile } from './segment-scan.ts'

const root = await mkdtemp(join(tmpdir(), 'nightjar-archive-'))
after(() => rm(root, { recursive: true }))
let places = 0

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

function createPlace(clock: Clock = systemClock) {
  const archiveDir = join(root, String(places++))
  const rows = new MemorySegmentRows()
  const context = { rows, archiveDir, clock, log: silentLogger }
  return { ...context, context, catalog: new Catalog(context), start: () => new Catalog(context) }
}

type Place = ReturnType<typeof createPlace>

/** A file with `seconds` fragments of a second, reported as the recorder does. */
async function record(
  place: Place,
  catalog: Catalog,
  startMs: number,
  seconds: number,
  values: Partial<OpenSegment> = {},
) {
  const init = writeInitSegment(syntheticFormat())
  const segment: OpenSegment = {
    cameraId: 1,
    runId: 'run',
    runStart90k: 0,
    path: segmentPath(values.cameraId ?? 1, startMs),
    startMs,
    initBytes: init.length,
    codecs: 'avc1.42c01e',
    width: 64,
    height: 48,
    initHash: 'hash',
    gapReason: undefined,
    ...values,
  }
  const path = join(place.archiveDir, segment.path)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, init)
  catalog.segmentOpened(segment)
  const fragments = await append(path, startMs, seconds)
  for (const fragment of fragments) catalog.fragmentWritten(segment.cameraId, segment.path, fragment)
  await catalog.flush()
  return { segment, path, fragments, close: () => catalog.segmentClosed(segment.cameraId, segment.path) }
}

async function append(path: string, startMs: number, seconds: number): Promise<Fragment[]> {
  const fragments: Fragment[] = []
  let offset = (await stat(path)).size
  const frames = syntheticFrames()
  for (let i = 0; i < seconds; i++) {
    const samples = Array.from({ length: 25 }, () => {
      const { data, isKey } = frames.next().value
      return { data, isKey, duration: 3600, compositionOffset: 0 }
    })
    const start90k = i * 90_000
    const head = writeFragmentHead(i + 1, [{ trackId: 1, baseDecodeTime: start90k, samples }], startMs + i * 1000)
    const bytes = Buffer.concat([head, ...samples.map(({ data }) => data)])
    await appendFile(path, bytes)
    const startOfFragmentMs = startMs + i * 1000
    fragments.push({
      offset,
      bytes: bytes.length,
      start90k,
      duration90k: 90_000,
      startMs: startOfFragmentMs,
      durationMs: 1000,
      isKey: true,
    })
    offset += bytes.length
  }
  return fragments
}

const t0 = syntheticStartMs

test('paths tell the camera and the time, and nothing else is taken for a recording', () => {
  assert.equal(segmentPath(7, t0 + 89), 'cameras/7/2026-01-02/03-04-05.089Z.mp4')
  assert.equal(findCameraOfPath('cameras/7/2026-01-02/03-04-05.089Z.mp4'), 7)
  assert.equal(findCameraOfPath('cameras/7/2026-01-02/03-04-05.089Z-2.mp4'), 7)
  for (const path of ['cameras/7/notes.txt', '../cameras/7/2026-01-02/03-04-05.089Z.mp4', 'cameras/x/a/b.mp4']) {
    assert.equal(findCameraOfPath(path), undefined)
  }
})

test('the open segment is listed fragment by fragment, and once when it is closed', async () => {
  const place = createPlace()
  const { catalog } = place
  let told = 0
  const stop = catalog.onFragment(1, () => told++)
  const { segment, fragments, close } = await record(place, catalog, t0, 5)
  const [open] = await catalog.listSegments(1, t0, t0 + minuteMs)
  assert.deepEqual(open!.fragments, fragments)
  assert.equal(open!.isClosed, false)
  assert.deepEqual(await catalog.findSegment(open!.id), open)
  assert.deepEqual(await catalog.bounds(1), { startMs: t0, endMs: t0 + 5000 })
  assert.equal(catalog.isRecording(1), true)
  close()
  for (let i = 0; i < 20; i++) {
    assert.equal((await catalog.listSegments(1, t0, t0 + minuteMs)).length, 1, 'at every moment of closing')
    assert.equal((await catalog.listSpans(1, t0, t0 + minuteMs)).length, 1)
  }
  await catalog.flush()
  const [closed] = await catalog.listSegments(1, t0, t0 + minuteMs)
  assert.deepEqual(closed, { ...open, isClosed: true })
  assert.equal(closed!.bytes, (await stat(join(place.archiveDir, segment.path))).size)
  assert.deepEqual(await catalog.listSegments(1, t0 + 5000, t0 + minuteMs), [])
  assert.equal(catalog.isRecording(1), false)
  assert.ok(told >= 6)
  stop()
})

test('a segment without fragments is removed when it closes', async () => {
  const place = createPlace()
  const { close, path } = await record(place, place.catalog, t0, 0)
  close()
  await place.catalog.flush()
  assert.deepEqual(place.rows.all, [])
  await assert.rejects(stat(path), { code: 'ENOENT' })
})

test('the first segment after a restart tells that the server was down', async () => {
  const place = createPlace()
  ;(await record(place, place.catalog, t0, 2)).close()
  ;(await record(place, place.catalog, t0 + 2000, 2)).close()
  await place.catalog.close()
  const again = place.start()
  await record(place, again, t0 + hourMs, 2)
  await record(place, again, t0 + hourMs, 2, { cameraId: 2 })
  assert.deepEqual(
    place.rows.all.map(({ gapReason }) => gapReason),
    [undefined, undefined, 'server_down', undefined],
  )
  assert.equal((await again.listSpans(1, t0 + hourMs, t0 + dayMs))[0]!.gapReason, 'server_down')
})

test('after a crash the whole fragments are kept, the rest is cut off, and empty files are removed', async () => {
  const place = createPlace()
  const whole = await record(place, place.catalog, t0, 5)
  await appendFile(
    whole.path,
    (await readFile(whole.path)).subarray(whole.fragments[0]!.offset, whole.fragments[1]!.offset - 1),
  )
  const empty = await record(place, place.catalog, t0 + minuteMs, 0, { cameraId: 2 })
  const missing = await record(place, place.catalog, t0, 1, { cameraId: 3 })
  await rm(missing.path)
  const zeros = await record(place, place.catalog, t0, 3, { cameraId: 4 })
  await appendFile(zeros.path, new Uint8Array(10_000))
  const report = await place.start().repairOpen()
  assert.equal(report.segments, 4)
  assert.equal(report.removed, 2)
  assert.equal(report.fragments, 8)
  const [first, fourth] = place.rows.all
  assert.deepEqual(first!.fragments, whole.fragments)
  assert.deepEqual(fourth!.fragments, zeros.fragments)
  assert.equal(first!.isClosed, true)
  assert.equal(first!.endMs, t0 + 5000)
  assert.equal((await stat(whole.path)).size, first!.bytes)
  await assert.rejects(stat(empty.path), { code: 'ENOENT' })
  assert.ok(isClean(await checkArchive({ ...place, isDeep: true })))
  assert.equal((await place.start().repairOpen()).segments, 0)
})

test('a file cut at any byte is scanned to its last whole fragment', async () => {
  const place = createPlace()
  const { path, fragments, segment } = await record(place, place.catalog, t0, 4)
  const bytes = await readFile(path)
  const copy = join(place.archiveDir, 'copy.mp4')
  await fc.assert(
    fc.asyncProperty(fc.nat(bytes.length), async (length) => {
      await writeFile(copy, bytes.subarray(0, length))
      const scan = await scanSegmentFile(copy)
      const expected = fragments.filter((f) => f.offset + f.bytes <= length)
      assert.deepEqual(scan.fragments, expected)
      assert.equal(scan.initBytes, length >= segment.initBytes ? segment.initBytes : 0)
      assert.equal(scan.damage, undefined)
    }),
    { numRuns: 60 },
  )
})

test('the check finds what is missing, unknown, of another length or damaged', async () => {
  const old: Clock = { ...systemClock, nowMs: () => Date.now() + minuteMs }
  const place = createPlace(old)
  const made = []
  for (let i = 0; i < 5; i++) {
    const recorded = await record(place, place.catalog, t0 + i * minuteMs, 3)
    recorded.close()
    made.push(recorded)
  }
  await place.catalog.flush()
  assert.ok(isClean(await checkArchive({ ...place, isDeep: true })))
  const [good, missing, longer, damaged] = made
  await rm(missing!.path)
  await appendFile(longer!.path, 'x')
  const bytes = await readFile(damaged!.path)
  bytes.fill(0, damaged!.fragments[1]!.offset, damaged!.fragments[1]!.offset + 50)
  await writeFile(damaged!.path, bytes)
  const orphan = segmentPath(9, t0)
  await mkdir(dirname(join(place.archiveDir, orphan)), { recursive: true })
  await writeFile(join(place.archiveDir, orphan), 'x')
  await writeFile(join(place.archiveDir, 'cameras/notes.txt'), 'x')
  const report = await checkArchive({ ...place, isDeep: true })
  assert.equal(report.segments, 5)
  assert.equal(report.files, 5)
  assert.deepEqual(report.missingFiles, [missing!.segment.path])
  assert.deepEqual(report.orphanFiles, [orphan])
  assert.deepEqual(
    report.sizeMismatches.map(({ path }) => path),
    [longer!.segment.path],
  )
  assert.deepEqual(
    report.damagedFiles.map(({ path }) => path),
    [damaged!.segment.path],
  )
  assert.ok(!report.damagedFiles.some(({ path }) => path === good!.segment.path))
  assert.equal((await checkArchive(place)).damagedFiles.length, 0)
})

test('old footage is deleted by age, then by bytes, oldest first, with its empty days', async () => {
  const clock: Clock = { ...systemClock, nowMs: () => t0 + 8 * dayMs, sleep: async () => {} }
  const place = createPlace(clock)
  for (const cameraId of [1, 2]) {
    for (let i = 0; i < 16; i++) {
      ;(await record(place, place.catalog, t0 + i * (dayMs / 2), 2, { cameraId })).close()
    }
  }
  await place.catalog.flush()
  const { bytes } = place.rows.all[0]!
  const signal = new AbortController().signal
  const report = await applyRetention(
    place.context,
    [
      { cameraId: 1, maxAgeMs: 7 * dayMs, maxBytes: undefined },
      { cameraId: 2, maxAgeMs: 30 * dayMs, maxBytes: bytes * 5 },
    ],
    signal,
  )
  assert.equal(report.segments, 2 + 11)
  const of = (cameraId: number) => place.rows.all.filter((s) => s.cameraId === cameraId).map(({ startMs }) => startMs)
  assert.deepEqual(of(1)[0], t0 + dayMs)
  assert.deepEqual(
    of(2),
    [11, 12, 13, 14, 15].map((i) => t0 + i * (dayMs / 2)),
  )
  assert.ok(isClean(await checkArchive(place)))
  assert.equal((await readdir(join(place.archiveDir, 'cameras/2'))).length, 3)
})

test('a deletion that was cut short is finished by the next', async () => {
  const place = createPlace()
  const [one, two, three] = await Promise.all(
    [0, 1, 2].map((i) => record(place, place.catalog, t0 + i * minuteMs, 1, { cameraId: i + 1 })),
  )
  for (const { close } of [one!, two!, three!]) close()
  await place.catalog.flush()
  const [first, second] = place.rows.all
  await place.rows.markGarbage([first!.id, second!.id])
  await rm(join(place.archiveDir, first!.path))
  await applyRetention(place.context, [], new AbortController().signal)
  assert.deepEqual(await place.rows.listGarbage(10), [])
  await assert.rejects(stat(join(place.archiveDir, second!.path)), { code: 'ENOENT' })
  assert.equal(place.rows.all.length, 1)
})

test('a removed camera leaves nothing behind, not even the file that was open', async () => {
  const place = createPlace()
  ;(await record(place, place.catalog, t0, 2)).close()
  await record(place, place.catalog, t0 + minuteMs, 2)
  await record(place, place.catalog, t0, 2, { cameraId: 2 })
  await place.catalog.removeCamera(1)
  assert.deepEqual(
    place.rows.all.map(({ cameraId }) => cameraId),
    [2],
  )
  assert.deepEqual(await readdir(join(place.archiveDir, 'cameras')), ['2'])
  assert.equal(await place.catalog.bounds(1), undefined)
})

test('a store that fails for a while loses nothing', async () => {
  let now = 0
  const clock: Clock = { ...systemClock, sleep: async (ms) => void (now += ms) }
  const place = createPlace(clock)
  const { insertOpen } = place.rows
  let failures = 3
  place.rows.insertOpen = async (segment) => {
    if (failures-- > 0) throw new Error('database is locked')
    return insertOpen.call(place.rows, segment)
  }
  const { close } = await record(place, place.catalog, t0, 2)
  close()
  await place.catalog.flush()
  assert.equal(place.rows.all[0]!.fragments.length, 2)
  assert.ok(now > 1000)
})

test('a shortened file is repaired to what is there', async () => {
  const place = createPlace()
  const { path, fragments } = await record(place, place.catalog, t0, 4)
  await truncate(path, fragments[2]!.offset + 10)
  await place.start().repairOpen()
  assert.equal(place.rows.all[0]!.fragments.length, 2)
})

test('a recorder that died leaves its whole fragments', async () => {
  const place = createPlace()
  const { path, fragments } = await record(place, place.catalog, t0, 3)
  await appendFile(path, 'half a fragment')
  await place.catalog.abandon(1)
  assert.deepEqual(place.rows.all[0]!.fragments, fragments)
  assert.equal((await stat(path)).size, place.rows.all[0]!.bytes)
})

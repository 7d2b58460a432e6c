import assert from 'node:assert/strict'
import { appendFile, copyFile, mkdir, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { MemorySegmentRows } from '../../test/support/archive/memory-segment-rows.ts'
import {
  dayMs,
  laterClock,
  minuteMs,
  openPlace,
  type Place,
  record,
  t0,
} from '../../test/support/archive/temporary-archive.ts'
import { markerName } from '../places/place-folder.ts'
import { Catalog } from './catalog.ts'
import { checkArchive, isClean } from './check.ts'
import { type FixOptions, fixArchive } from './fix.ts'
import { segmentPath } from './layout.ts'
import { scanSegmentFile } from './segment-scan.ts'

const cameras = [1, 2, 3].map((id) => ({ id, createdAtMs: t0 - dayMs }))

async function fix(place: Place, options: Partial<FixOptions> = {}) {
  const fixes = await fixArchive({ ...place.context, isDeep: true, cameras, forgetsMissing: false, ...options })
  // The files of these tests have no index at first; see indexed-files.test.ts.
  return fixes.filter(({ action }) => action !== 'indexed').map(({ action, path }) => [action, path])
}

const check = (place: Place) => checkArchive({ ...place.context, isDeep: true })

async function recordFiles(place: Place, count: number, seconds = 3) {
  const made = []
  for (let i = 0; i < count; i++) {
    const recorded = await record(place, place.catalog, t0 + i * minuteMs, seconds)
    recorded.close()
    made.push(recorded)
  }
  await place.catalog.flush()
  return made
}

/** A recorder whose catalog nobody asks: its files have no rows. */
const unknownCatalog = (place: Place) => new Catalog({ ...place.context, rows: new MemorySegmentRows() })

test('after any damage to the files, the fixed index agrees with them and lists intact footage', async () => {
  const place = await openPlace(laterClock)
  const [kept, missing, longer, shorter, foreign] = await recordFiles(place, 5)
  const orphan = await record(place, unknownCatalog(place), t0 - minuteMs, 2)
  const empty = await record(place, unknownCatalog(place), t0 - 2 * minuteMs, 0)
  const stranger = await record(place, unknownCatalog(place), t0, 2, { cameraId: 9 })
  const older = await record(place, unknownCatalog(place), t0 - 2 * dayMs, 2)
  const rubbish = segmentPath(2, t0)
  await mkdir(dirname(join(place.archiveDir, rubbish)), { recursive: true })
  await writeFile(join(place.archiveDir, rubbish), Buffer.alloc(6_000_000, 'x'))
  await rm(missing!.path)
  await appendFile(longer!.path, 'x'.repeat(100))
  await truncate(shorter!.path, shorter!.fragments[2]!.offset + 9)
  const other = await record(place, unknownCatalog(place), t0 + dayMs, 3)
  await rename(other.path, foreign!.path)
  const usage = place.rows.listUsage
  place.rows.listUsage = async () => (await usage.call(place.rows)).map((each) => ({ ...each, bytes: each.bytes + 1 }))

  const fixes = await fix(place)
  place.rows.listUsage = usage
  assert.deepEqual(fixes, [
    ['forgotten', missing!.segment.path],
    ['cut', longer!.segment.path],
    ['cut', shorter!.segment.path],
    ['set_aside', foreign!.segment.path],
    ['set_aside', older.segment.path],
    ['empty', empty.segment.path],
    ['adopted', orphan.segment.path],
    ['set_aside', rubbish],
    ['set_aside', stranger.segment.path],
    ['recounted', 'camera 1'],
  ])
  assert.deepEqual(await check(place), { ...(await check(place)), ...clean })
  assert.deepEqual(
    (await place.rows.listBetween(1, 0, t0 + dayMs)).map(({ path, fragments }) => [path, fragments.length]),
    [
      [orphan.segment.path, 2],
      [kept!.segment.path, 3],
      [longer!.segment.path, 3],
      [shorter!.segment.path, 2],
    ],
  )
  const aside = (path: string) => stat(join(place.archiveDir, 'set-aside', path))
  for (const { segment } of [foreign!, stranger, older]) assert.ok((await aside(segment.path)).size > 0)
  assert.equal((await aside(rubbish)).size, 6_000_000)
  await aside(shorter!.segment.path).catch(() => assert.fail('what was cut off is kept'))
  assert.deepEqual(await fix(place), [])
})

const clean = {
  missingPlaces: [],
  missingFiles: [],
  orphanFiles: [],
  sizeMismatches: [],
  damagedFiles: [],
  wrongCounters: [],
}

test('damage in the middle is cut out, and the parts before and after it become separate files', async () => {
  const place = await openPlace(laterClock)
  const [recorded] = await recordFiles(place, 1, 6)
  const { path, fragments, segment } = recorded!
  const bytes = await readFile(path)
  bytes[fragments[2]!.offset + fragments[2]!.bytes - 3]! ^= 1
  await writeFile(path, bytes)
  assert.match((await check(place)).damagedFiles[0]!.detail, /checksum of the fragment/)
  assert.deepEqual(await fix(place), [['split', segment.path]])
  assert.ok(isClean(await check(place)))
  const [before, after] = await place.rows.listBetween(1, 0, t0 + dayMs)
  assert.deepEqual(before!.fragments, fragments.slice(0, 2))
  assert.deepEqual(
    [after!.startMs, after!.endMs, after!.runStart90k, after!.gapReason, after!.fragments.length],
    [t0 + 3000, t0 + 6000, 3 * 90_000, 'damaged', 3],
  )
  assert.equal(after!.runId, before!.runId)
  assert.equal(after!.fragments[0]!.start90k, 0, 'times begin at 0 in every file')
  assert.deepEqual(await readFile(join(place.archiveDir, 'set-aside', segment.path)), bytes)
})

test('an unreadable checksum is damage, not a file from before there were checksums', async () => {
  const place = await openPlace(laterClock)
  const [recorded] = await recordFiles(place, 1, 4)
  const { path, fragments, segment } = recorded!
  const bytes = await readFile(path)
  bytes[fragments[1]!.offset + 12]! ^= 1
  await writeFile(path, bytes)
  assert.equal((await check(place)).damagedFiles.length, 1)
  assert.deepEqual(await fix(place), [['split', segment.path]])
  assert.deepEqual(
    place.rows.all.map((each) => each.fragments.length),
    [1, 2],
  )
})

test('footage of one camera among that of another is set aside, never listed', async () => {
  const place = await openPlace(laterClock)
  const [own] = await recordFiles(place, 1)
  const orphan = segmentPath(1, t0 + minuteMs)
  const stranger = await record(place, unknownCatalog(place), t0, 3, { cameraId: 2 })
  await copyFile(stranger.path, join(place.archiveDir, orphan))
  await rename(stranger.path, own!.path)
  assert.match((await check(place)).damagedFiles[0]!.detail, /is of camera 2/)
  assert.deepEqual(await fix(place), [
    ['set_aside', own!.segment.path],
    ['set_aside', orphan],
  ])
  assert.deepEqual(place.rows.all, [])
})

test('a damaged initialization section is replaced by that of a neighboring file', async () => {
  const place = await openPlace(laterClock)
  const [neighbour, damaged] = await recordFiles(place, 2)
  const bytes = await readFile(damaged!.path)
  bytes.fill(0, 8, 40)
  await writeFile(damaged!.path, bytes)
  assert.deepEqual(await fix(place), [['split', damaged!.segment.path]])
  assert.ok(isClean(await check(place)))
  const [, whole] = await place.rows.listBetween(1, 0, t0 + dayMs)
  assert.equal(whole!.fragments.length, 3)
  assert.equal(whole!.gapReason, undefined)
  const scan = await scanSegmentFile(join(place.archiveDir, whole!.path), { isVerified: true })
  assert.equal(scan.initHash, neighbour!.segment.initHash)
})

test('after changes to any bytes, the fixed index agrees with the files and lists unchanged footage', async () => {
  const place = await openPlace(laterClock)
  const [neighbour] = await recordFiles(place, 1)
  let start = neighbour!.segment.startMs
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({ at: fc.double({ min: 0, max: 1, noNaN: true }), bytes: fc.integer({ min: 1, max: 3000 }) }),
        {
          minLength: 1,
          maxLength: 3,
        },
      ),
      fc.constantFrom(0, 1, 2),
      async (holes, cut) => {
        start += minuteMs
        const { path, fragments, close } = await record(place, place.catalog, start, 5)
        close()
        await place.catalog.flush()
        const bytes = await readFile(path)
        for (const hole of holes) {
          const at = Math.floor(hole.at * (bytes.length - 1))
          for (let i = at; i < Math.min(bytes.length, at + hole.bytes); i++) bytes[i]! ^= 0x5a
        }
        const length = cut === 1 ? Math.floor(bytes.length * 0.8) : bytes.length
        const now = Buffer.concat([bytes.subarray(0, length), Buffer.alloc(cut === 2 ? 500 : 0, 7)])
        const before = await readFile(path)
        await writeFile(path, now)
        await fix(place)
        assert.ok(isClean(await check(place)))
        const isUntouched = ({ offset, bytes: length }: { offset: number; bytes: number }) =>
          before.subarray(offset, offset + length).equals(now.subarray(offset, offset + length))
        const listed = await place.rows.listBetween(1, start, start + minuteMs)
        const times = listed.flatMap((each) => each.fragments.map(({ startMs }) => startMs))
        for (const fragment of fragments) {
          assert.equal(times.includes(fragment.startMs), isUntouched(fragment), `fragment at ${fragment.startMs}`)
        }
      },
    ),
    { numRuns: 60 },
  )
})

test('while the disk or most of its files are missing, no rows are deleted unless requested', async () => {
  const place = await openPlace(laterClock)
  const made = await recordFiles(place, 12, 1)
  for (const { path } of made.slice(0, 11)) await rm(path)
  await assert.rejects(fix(place), /11 of 12 files are missing.*--forget-missing/)
  await rm(join(place.archiveDir, markerName))
  await assert.rejects(fix(place), /is not an archive.*--forget-missing/)
  assert.equal(place.rows.all.length, 12)
  const fixes = await fix(place, { forgetsMissing: true })
  assert.equal(fixes.length, 11)
  assert.ok(isClean(await check(place)))
  assert.equal(place.rows.all.length, 1)
  await rm(place.archiveDir, { recursive: true })
  await assert.rejects(fix(place), /is not an archive/)
  assert.equal((await fix(place, { forgetsMissing: true })).length, 1)
  assert.equal(place.rows.all.length, 0)
})

test('a file without a row from before the clock was set back is added to its clock epoch', async () => {
  const place = await openPlace(laterClock)
  const add = async (catalog: Catalog, seconds: number) => {
    const { segment, close } = await record(place, catalog, t0 + seconds * 1000, 60)
    close()
    await catalog.flush()
    return segment.path
  }
  const first = await add(place.catalog, 0)
  const lost = await add(unknownCatalog(place), 60)
  const third = await add(place.catalog, 120)
  const again = await add(place.catalog, 30)
  const after = await add(place.catalog, 90)
  assert.deepEqual(await fix(place), [['adopted', lost]])
  const listed = await place.catalog.listSpans(1, t0, t0 + dayMs)
  const paths = await Promise.all(listed.map(async ({ id }) => (await place.catalog.findSegment(id))!.path))
  assert.deepEqual(paths, [first, lost, third, again, after])
  const next = await add(place.catalog, 150)
  const last = (await place.catalog.listSpans(1, t0, t0 + dayMs)).at(-1)!
  assert.equal((await place.catalog.findSegment(last.id))!.path, next, 'recording goes on in the epoch it was in')
})

test('after the database was lost, the index is made from the files alone, if that is asked for', async () => {
  const place = await openPlace(laterClock)
  const made = await recordFiles(place, 4)
  const anew = { ...place, context: { ...place.context, rows: new MemorySegmentRows() } }
  const young = cameras.map(({ id }) => ({ id, createdAtMs: t0 + dayMs }))
  const fixes = await fix(anew, { cameras: young, adoptsOlder: true })
  assert.deepEqual(
    fixes,
    made.map(({ segment }) => ['adopted', segment.path]),
  )
  assert.ok(isClean(await check(anew)))
  const found = await anew.context.rows.listBetween(1, 0, t0 + dayMs)
  assert.deepEqual(
    found.map(({ startMs, endMs, fragments }) => [startMs, endMs, fragments.length]),
    made.map(({ segment }) => [segment.startMs, segment.startMs + 3000, 3]),
  )
  const again = { ...place, context: { ...place.context, rows: new MemorySegmentRows() } }
  assert.ok((await fix(again, { cameras: young })).every(([action]) => action === 'set_aside'))
})

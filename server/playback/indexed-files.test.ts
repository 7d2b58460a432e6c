// The index at the end of closed files: it says what the heads of the fragments say, and a damaged one is not believed.

import assert from 'node:assert/strict'
import { open, readFile, truncate, writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import fc from 'fast-check'
import { FootageScene, TestClock } from '../../test/playback/footage-scene.ts'
import { readBytes } from '../../test/playback/stream-player.ts'
import { MemorySegmentRows } from '../../test/support/archive/memory-segment-rows.ts'
import { syntheticStartMs as t0 } from '../../test/support/media/synthetic-frames.ts'
import { checkArchive, isClean } from '../archive/check.ts'
import { writeFileIndex } from '../archive/file-index.ts'
import { readHeadSamples, readIndexedSamples } from '../archive/file-samples.ts'
import { fixArchive } from '../archive/fix.ts'
import { scanSegmentFile } from '../archive/segment-scan.ts'
import { silentLogger } from '../base/log.ts'
import { SampleRecordWriter } from '../media/mp4/sample-records.ts'
import { endOfFootage, type Segment } from '../model/segment.ts'
import { RecordedSamples } from './recorded-samples.ts'

const user = { cameraId: 1, userId: 7, credential: { kind: 'personal', id: 3 } } as const

/** Some files of different kinds. */
async function openScene() {
  const rows = new MemorySegmentRows()
  const scene = new FootageScene(rows)
  await scene.record(0, 65, { audioSampleRate: 44100 })
  await scene.lose('camera_unreachable')
  await scene.record(70, 80, { gopFrames: 100 })
  await scene.lose('camera_unreachable')
  await scene.record(90, 100, { losses: [[93.2, 95]] })
  await scene.stop()
  const segments = await rows.listBetween(1, 0, t0 + 1e9)
  const pathOf = (segment: Segment) => scene.places.pathOf(segment)
  const read = async (segment: Segment) => {
    await using file = await open(pathOf(segment))
    return readIndexedSamples(file, segment)
  }
  const download = async () => {
    const playback = scene.playback()
    const { id } = await playback.createDownload({ ...user, startMs: t0, endMs: t0 + 100_000 })
    return readBytes(await playback.openDownload(id, false, {}))
  }
  const context = { rows, places: scene.places, clock: new TestClock(), log: silentLogger }
  const check = () => checkArchive({ ...context, isDeep: true })
  const fix = () =>
    fixArchive({ ...context, isDeep: true, forgetsMissing: false, cameras: [{ id: 1, createdAtMs: t0 - 1e9 }] })
  return { scene, rows, segments, pathOf, read, download, check, fix }
}

test('a closed file ends with an index that says what its heads say', async () => {
  const { scene, segments, pathOf, read, check } = await openScene()
  await using _ = scene
  assert.ok(segments.length >= 4)
  for (const segment of segments) {
    const bytes = await readFile(pathOf(segment))
    assert.equal(bytes.length, segment.bytes)
    assert.ok(segment.bytes > endOfFootage(segment))
    const records = await read(segment)
    await using file = await open(pathOf(segment))
    const heads = await readHeadSamples(file, segment)
    assert.deepEqual(records, heads.records)
    // Players find the key frames from the last four bytes of the file.
    const mfra = bytes.subarray(bytes.length - bytes.readUInt32BE(bytes.length - 4))
    assert.equal(mfra.toString('latin1', 4, 8), 'mfra')
    const count = mfra.readUInt32BE(28)
    assert.equal(count, segment.fragments.filter(({ isKey }) => isKey).length)
    for (let i = 0; i < count; i++) {
      const moof = Number(mfra.readBigUInt64BE(32 + i * 19 + 8))
      assert.equal(bytes.toString('latin1', moof + 4, moof + 8), 'moof')
    }
  }
  assert.ok(isClean(await check()))
})

test('an index that was cut, changed or exchanged is not believed, and a download is the same without it', async () => {
  const { scene, segments, pathOf, read, download } = await openScene()
  await using _ = scene
  const whole = await download()
  const [segment, other] = segments.toSorted((a, b) => a.bytes - b.bytes) as [Segment, Segment]
  const path = pathOf(segment)
  const bytes = await readFile(path)
  const end = endOfFootage(segment)
  const records = await read(segment)
  const expect = async (changed: Uint8Array, isWhole = false) => {
    await writeFile(path, changed)
    assert.deepEqual(await read(segment), isWhole ? records : undefined)
    const scan = await scanSegmentFile(path, { isVerified: true, cameraId: 1 })
    assert.deepEqual([scan.fragments.length, scan.bytes], [segment.fragments.length, isWhole ? bytes.length : end])
  }
  await writeFile(path, bytes)
  for (let length = bytes.length - 1; length >= end; length--) {
    await truncate(path, length)
    assert.equal(await read(segment), undefined)
    const scan = await scanSegmentFile(path)
    assert.deepEqual([scan.fragments.length, scan.bytes, scan.damage], [segment.fragments.length, end, undefined])
  }
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: end, max: bytes.length - 1 }),
      fc.integer({ min: 1, max: 255 }),
      async (at, xor) => {
        const changed = Buffer.from(bytes)
        changed[at]! ^= xor
        // What other players read is not covered by the checksum, and does not have to be.
        const isOurs = at < end + bytes.readUInt32BE(end)
        await writeFile(path, changed)
        const found = await read(segment)
        if (isOurs || found) assert.deepEqual(found, isOurs ? undefined : records)
      },
    ),
  )
  const index = (await readFile(pathOf(other))).subarray(endOfFootage(other))
  await expect(Buffer.concat([bytes.subarray(0, end), index]))
  await expect(Buffer.concat([bytes.subarray(0, end), Buffer.alloc(5000)]))
  assert.deepEqual(await download(), whole)
  await writeFile(path, Buffer.concat([bytes, Buffer.from('xyz')]))
  assert.equal((await scanSegmentFile(path)).bytes, end)
  await expect(bytes, true)

  // Its checksums are right, and what it says is not.
  const { cameraId, checksum, fragments } = segment
  const lie = (
    change: (run: { trackId: number; dataOffset: number; size: number }) => object,
    count = fragments.length,
  ) => {
    const writer = new SampleRecordWriter()
    for (const fragment of fragments) {
      const run = { trackId: 1, dataOffset: 500, size: fragment.bytes - 500 }
      const { size, ...rest } = { ...run, ...change(run) }
      const times = { baseDecodeTime: fragment.start90k, durations: [fragment.duration90k], compositionOffsets: [0] }
      writer.begin(1)
      writer.addRun({ ...rest, ...times, count: 1, sizes: [size], isKey: [true] })
    }
    return writeFileIndex({ cameraId, checksum: checksum!, count, records: writer.read() }, [])
  }
  for (const index of [
    lie(({ size }) => ({ size: size + 1 })),
    lie(({ dataOffset }) => ({ dataOffset: dataOffset + 1 })),
    lie(() => ({}), fragments.length + 1),
  ]) {
    await writeFile(path, Buffer.concat([bytes.subarray(0, end), index]))
    assert.equal(await read({ ...segment, bytes: end + index.length }), undefined)
  }
})

test('what is known of a file that was left open is read again once it is repaired', async () => {
  const { scene, segments, read } = await openScene()
  await using _ = scene
  const samples = new RecordedSamples((segment) => scene.catalog.open(segment))
  const [segment] = segments as [Segment]
  const reported = { ...segment, fragments: segment.fragments.slice(0, 2), checksum: undefined }
  const before = await samples.read(reported)
  assert.deepEqual(await samples.read(segment), await read(segment))
  assert.ok(before.length < (await samples.read(segment)).length)
})

test('check --fix adds the index to files without one, byte for byte as the recorder writes it', async () => {
  const { scene, rows, segments, pathOf, check, fix } = await openScene()
  await using _ = scene
  const before = await Promise.all(segments.map((segment) => readFile(pathOf(segment))))
  for (const segment of segments) {
    const bytes = endOfFootage(segment)
    await truncate(pathOf(segment), bytes)
    await rows.close(segment.id, { ...segment, bytes })
  }
  assert.ok(isClean(await check()))
  assert.deepEqual(await fix(), [{ action: 'indexed', path: 'camera 1', detail: `${segments.length} files` }])
  assert.deepEqual(await Promise.all(segments.map((segment) => readFile(pathOf(segment)))), before)
  assert.ok(isClean(await check()))
  assert.deepEqual(await fix(), [])

  // A wrong index is replaced.
  const path = pathOf(segments[0]!)
  const changed = Buffer.from(before[0]!)
  changed[endOfFootage(segments[0]!) + 100]! ^= 1
  await writeFile(path, changed)
  assert.deepEqual(
    (await fix()).map(({ action }) => action),
    ['cut', 'indexed'],
  )
  assert.deepEqual(await readFile(path), before[0])
  assert.ok(isClean(await check()))
})

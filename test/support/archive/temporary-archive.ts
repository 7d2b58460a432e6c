// An archive in a temporary folder with its rows in memory, and the reports of a recorder, for tests.

import { appendFile, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after } from 'node:test'
import { Catalog } from '../../../server/archive/catalog.ts'
import { segmentPath } from '../../../server/archive/layout.ts'
import { addToChecksum, emptyChecksum, fragmentChecksum, hashInit } from '../../../server/archive/segment-checksum.ts'
import { type Clock, systemClock } from '../../../server/base/clock.ts'
import { silentLogger } from '../../../server/base/log.ts'
import { writeChecksumBox } from '../../../server/media/mp4/checksum-box.ts'
import { writeInitSegment } from '../../../server/media/mp4/init-segment.ts'
import { writeFragmentHead } from '../../../server/media/mp4/media-fragment.ts'
import { firstPlaceId } from '../../../server/model/place.ts'
import type { Fragment } from '../../../server/model/segment.ts'
import type { OpenSegment } from '../../../server/model/segment-views.ts'
import { markFolder } from '../../../server/places/place-folder.ts'
import { syntheticFormat, syntheticFrames, syntheticStartMs } from '../media/synthetic-frames.ts'
import { MemorySegmentRows } from './memory-segment-rows.ts'
import { onePlace, testMark } from './one-place.ts'

export const t0 = syntheticStartMs
export const minuteMs = 60_000
export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs

export type Place = Awaited<ReturnType<typeof openPlace>>

/** Removed after the test file. */
export async function openPlace(clock: Clock = systemClock, rows = new MemorySegmentRows()) {
  const archiveDir = await mkdtemp(join(tmpdir(), 'nightjar-archive-'))
  after(() => rm(archiveDir, { recursive: true, force: true }))
  await markFolder(archiveDir, testMark)
  const context = { rows, places: onePlace(archiveDir), clock, log: silentLogger }
  return { ...context, archiveDir, context, catalog: new Catalog(context), start: () => new Catalog(context) }
}

/** Later than any file, so that none is too young to be checked. */
export const laterClock: Clock = { ...systemClock, nowMs: () => Date.now() + hourMs }

/** Creates a file with `seconds` fragments of one second, reported as a recorder does. */
export async function record(
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
    placeId: firstPlaceId,
    path: segmentPath(values.cameraId ?? 1, startMs),
    startMs,
    initBytes: init.length,
    codecs: 'avc1.42c01e',
    width: 64,
    height: 48,
    initHash: hashInit(init),
    gapReason: undefined,
    ...values,
  }
  const path = join(place.archiveDir, segment.path)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, init)
  catalog.segmentOpened(segment)
  const { fragments, checksum } = await append(path, segment.cameraId, startMs, seconds)
  for (const fragment of fragments) catalog.fragmentWritten(segment.cameraId, segment.path, fragment)
  await catalog.flush(segment.cameraId)
  return { segment, path, fragments, close: () => catalog.segmentClosed(segment.cameraId, segment.path, checksum) }
}

/** Fragments at the end of a file. */
async function append(path: string, cameraId: number, startMs: number, seconds: number) {
  const fragments: Fragment[] = []
  let checksum = emptyChecksum
  let offset = (await stat(path)).size
  const frames = syntheticFrames()
  for (let i = 0; i < seconds; i++) {
    const samples = Array.from({ length: 25 }, () => {
      const { data, isKey } = frames.next().value
      return { data, isKey, duration: 3600, compositionOffset: 0 }
    })
    const start90k = i * 90_000
    const head = writeFragmentHead(i + 1, [{ trackId: 1, baseDecodeTime: start90k, samples }], startMs + i * 1000)
    const content = [head, ...samples.map(({ data }) => data)]
    const own = fragmentChecksum(content)
    const bytes = Buffer.concat([writeChecksumBox({ checksum: own, cameraId }), ...content])
    checksum = addToChecksum(checksum, own)
    await appendFile(path, bytes)
    const times = { start90k, duration90k: 90_000, startMs: startMs + i * 1000, durationMs: 1000 }
    fragments.push({ offset, bytes: bytes.length, ...times, isKey: true })
    offset += bytes.length
  }
  return { fragments, checksum }
}

// When a media worker dies, its cameras are connected by the next one, recording continues, and viewers see them again.

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { Catalog } from '../../server/archive/catalog.ts'
import { checkArchive, isClean } from '../../server/archive/check.ts'
import { systemClock } from '../../server/base/clock.ts'
import { silentLogger } from '../../server/base/log.ts'
import type { CameraReport } from '../../server/cameras/media-workers.ts'
import type { LiveChunk } from '../../server/live/live-chunk.ts'
import { openFakeCamera } from '../fake-camera/fake-camera.ts'
import { eventually } from '../server-under-test.ts'
import { onePlace } from '../support/archive/one-place.ts'
import { openTemporaryStore } from '../support/store/temporary-store.ts'
import { makeArchiveFolder, runWorkers } from './workers-under-test.ts'

test('a worker that dies is replaced, and cameras, recordings and live streams continue', async (t) => {
  const { store } = await openTemporaryStore(t)
  const archiveDir = await makeArchiveFolder(t)
  await using camera = await openFakeCamera({ streams: [{ name: 'a', width: 320, height: 180, gopFrames: 15 }] })
  const catalog = new Catalog({
    rows: store.segments,
    places: onePlace(archiveDir),
    clock: systemClock,
    log: silentLogger,
  })
  const lost: number[][] = []
  const onReport = (report: CameraReport) => {
    if (report.type === 'segment_opened') catalog.segmentOpened(report.segment)
    if (report.type === 'fragment_written') catalog.fragmentWritten(report.cameraId, report.path, report.fragment)
    if (report.type === 'segment_closed')
      catalog.segmentClosed(report.cameraId, report.path, report.checksum, report.indexBytes)
  }
  const { workers, stop } = runWorkers(t, archiveDir, {
    onReport,
    onWorkerLost: async (cameraIds) => {
      lost.push([...cameraIds])
      for (const id of cameraIds) catalog.abandon(id)
    },
    workerFile: new URL('./dying-worker.ts', import.meta.url),
  })
  workers.setCamera({
    cameraId: 7,
    ownerId: 1,
    canSeeProblems: true,
    url: camera.url('a'),
    recording: { startReason: 'stopped_by_user' },
  })
  const kinds: string[] = []
  const subscription: { ack(bytes: number): void; close(): void } = workers.subscribe(
    7,
    'mpegts',
    (chunk: LiveChunk) => {
      if (chunk.kind !== kinds.at(-1)) kinds.push(chunk.kind)
      subscription.ack(chunk.data.length)
    },
  )

  const listSegments = () => catalog.listSegments(7, 0, Number.MAX_SAFE_INTEGER)
  await eventually('footage', 20_000, async () => ((await listSegments())[0]?.fragments.length ?? 0) >= 2)
  await writeFile(join(archiveDir, 'die'), '')
  const [before, after] = await eventually('footage of the next worker', 20_000, async () => {
    const segments = await listSegments()
    return segments.length === 2 && segments[1]!.fragments.length >= 2 && segments
  })
  assert.deepEqual(lost, [[7]])
  assert.equal(before!.isClosed, true)
  assert.ok(after!.startMs >= before!.endMs)
  assert.equal(after!.gapReason, 'server_down')
  assert.deepEqual(kinds, ['init', 'media', 'end', 'init', 'media'])

  subscription.close()
  await stop()
  await catalog.close()
  const report = await checkArchive({
    rows: store.segments,
    places: onePlace(archiveDir),
    clock: systemClock,
    isDeep: true,
  })
  assert.ok(isClean(report), JSON.stringify(report))
})

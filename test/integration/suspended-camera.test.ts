// A camera whose stream crashes the media worker twice is suspended for a while, so that the others are recorded
// without interruption.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type LogFields, type Logger, silentLogger } from '../../server/base/log.ts'
import type { CameraReport } from '../../server/cameras/media-workers.ts'
import type { CameraJob } from '../../server/cameras/worker-protocol.ts'
import { openFakeCamera } from '../fake-camera/fake-camera.ts'
import { eventually } from '../server-under-test.ts'
import { makeArchiveFolder, runWorkers } from './workers-under-test.ts'

test('a camera that crashes a worker twice is suspended, and resumes after the suspension or a change', async (t) => {
  const archiveDir = await makeArchiveFolder(t)
  await using camera = await openFakeCamera({
    streams: [
      { name: 'good', width: 320, height: 180, gopFrames: 15 },
      { name: 'harmful', width: 176, height: 144, gopFrames: 15 },
    ],
  })
  const reports: CameraReport[] = []
  const errors: LogFields[] = []
  const log: Logger = { ...silentLogger, error: (fields) => errors.push(fields as LogFields), child: () => log }
  let losses = 0
  const { workers, stop } = runWorkers(t, archiveDir, {
    log,
    onReport: (report) => reports.push(report),
    onWorkerLost: async () => {
      losses++
    },
    firstSuspensionMs: 5000,
    workerFile: new URL('../hostile/fragile-worker.ts', import.meta.url),
  })
  const jobOf = (cameraId: number, name: string): CameraJob => ({
    ...{
      cameraId,
      ownerId: 1,
      canSeeProblems: true,
      url: camera.url(name),
      recording: { startReason: 'stopped_by_user' },
    },
  })
  workers.setCamera(jobOf(1, 'good'))
  workers.setCamera(jobOf(2, 'harmful'))
  const statusesOf = (id: number) =>
    reports.flatMap((report) => (report.type === 'camera_status' && report.cameraId === id ? [report.status] : []))
  const gapsOf = (id: number) =>
    reports.flatMap((report) => (report.type === 'recording_gap' && report.cameraId === id ? [report.reason] : []))
  const fragmentsOf = (id: number) =>
    reports.filter((report) => report.type === 'fragment_written' && report.cameraId === id).length

  const suspended = await eventually('the suspension', 60_000, async () =>
    statusesOf(2).find((status) => status.state === 'offline' && status.reason === 'camera_suspended'),
  )
  assert.ok(suspended.state === 'offline')
  assert.equal(losses, 2)
  assert.match(suspended.detail, /^The stream of this camera made a part of the server crash .* update the firmware/)
  assert.equal(gapsOf(2).at(-1), 'camera_suspended')

  const before = fragmentsOf(1)
  await eventually('footage of the other camera', 20_000, async () => fragmentsOf(1) >= before + 3)
  assert.ok(!gapsOf(1).includes('camera_suspended'))
  assert.ok(statusesOf(1).every((status) => status.state !== 'offline'))

  await eventually(
    'the end of the suspension: the camera crashes a worker again and is suspended at once',
    60_000,
    async () => {
      const last = statusesOf(2).at(-1)
      return losses === 3 && last?.state === 'offline' && last.reason === 'camera_suspended'
    },
  )
  const opened = reports.filter((report) => report.type === 'segment_opened' && report.segment.cameraId === 2)
  assert.ok(
    opened.some((report) => report.type === 'segment_opened' && report.segment.gapReason === 'camera_suspended'),
    'the footage after the suspension says why there is none before',
  )

  workers.setCamera(jobOf(2, 'good'))
  await eventually('the changed camera', 20_000, async () => statusesOf(2).at(-1)?.state === 'online')
  assert.equal(losses, 3)
  assert.ok(errors.some(({ cameraId }) => cameraId === 2))
  await stop()
})

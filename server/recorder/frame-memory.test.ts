// Frames with reused memory on a disk so slow that the hub has long released them.

import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { oneTarget } from '../../test/support/archive/one-place.ts'
import { syntheticFormat, syntheticFrames } from '../../test/support/media/synthetic-frames.ts'
import { systemClock } from '../base/clock.ts'
import { silentLogger } from '../base/log.ts'
import { CameraHub } from '../hub/camera-hub.ts'
import type { Frame } from '../media/frame.ts'
import { type FrameMemory, FrameMemoryPool } from '../media/frame-memory.ts'
import { CameraRecorder } from './recorder.ts'
import { createNodeDisk, type RecordingDisk } from './recording-disk.ts'

/** Records several groups of pictures on a disk that begins to write after the last one. */
async function record(archiveDir: string, lay: (frame: Frame) => Frame): Promise<Uint8Array> {
  const writing = Promise.withResolvers<void>()
  const paths: string[] = []
  const nodeDisk = createNodeDisk(archiveDir)
  const disk: RecordingDisk = {
    ...nodeDisk,
    async createFile(path) {
      paths.push(path)
      await writing.promise
      return nodeDisk.createFile(path)
    },
  }
  const recorder = new CameraRecorder({
    cameraId: 1,
    targets: oneTarget(archiveDir, disk),
    clock: systemClock,
    log: silentLogger,
    events: {
      segmentOpened: () => {},
      fragmentWritten: () => {},
      segmentClosed: () => {},
      segmentBroken: () => {},
      statusChanged: () => {},
      gapChanged: () => {},
    },
  })
  const hub = new CameraHub({ onSinkError: (error) => assert.fail(String(error)) })
  hub.attach(recorder)
  hub.publish({ kind: 'start', runId: 'run', format: syntheticFormat() })
  for (const frame of syntheticFrames()) {
    if (frame.dts90k >= 5 * 90_000) break
    const laid = lay(frame)
    hub.publish(laid)
    laid.memory?.release()
  }
  hub.publish({ kind: 'end', reason: 'no_frames' })
  writing.resolve()
  await recorder.close()
  assert.equal(paths.length, 1)
  return readFile(paths[0]!)
}

test('received frames are recorded intact, and all memory is released', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'nightjar-memory-'))
  t.after(() => rm(dir, { recursive: true }))
  const memories: FrameMemory[] = []
  const pool = new FrameMemoryPool(1024 ** 3)
  const recorded = await record(join(dir, 'pool'), (frame) => {
    const memory = pool.take(frame.data.length)
    memories.push(memory)
    memory.bytes.set(frame.data)
    return { ...frame, memory, data: memory.bytes.subarray(0, frame.data.length) }
  })
  assert.deepEqual(recorded, await record(join(dir, 'plain'), (frame) => frame))
  assert.ok(memories.length > 100)
  assert.equal(
    memories.findIndex(({ bytes }) => bytes.length > 0),
    -1,
  )
})

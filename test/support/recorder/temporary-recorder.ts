// A recorder with a temporary archive and a log of its events, for tests.

import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../../server/base/clock.ts'
import { silentLogger } from '../../../server/base/log.ts'
import type { Frame } from '../../../server/media/frame.ts'
import { firstPlaceId } from '../../../server/model/place.ts'
import type { Fragment } from '../../../server/model/segment.ts'
import type { ConfirmedPart, OpenSegment } from '../../../server/model/segment-views.ts'
import { CameraRecorder, type RecorderOptions } from '../../../server/recorder/recorder.ts'
import type { RecorderEvents } from '../../../server/recorder/recorder-events.ts'
import { createNodeDisk, type RecordingDisk, type RecordingFile } from '../../../server/recorder/recording-disk.ts'
import { createSingleTarget } from '../../../server/recorder/recording-targets.ts'
import { type SyntheticOptions, syntheticFormat, syntheticFrames } from '../media/synthetic-frames.ts'

export const archiveDir = await mkdtemp(join(tmpdir(), 'nightjar-recorder-'))
export const nodeDisk = createNodeDisk(archiveDir)
// All test files of the process share it.
process.once('exit', () => rmSync(archiveDir, { recursive: true, force: true }))

export type Recorded = {
  segment: OpenSegment
  fragments: Fragment[]
  isClosed: boolean
  isBroken?: boolean
  confirmedBytes?: number
}

export class EventLog implements RecorderEvents {
  readonly files: Recorded[] = []
  readonly statuses: string[] = []
  readonly gaps: (string | undefined)[] = []
  segmentOpened(segment: OpenSegment): void {
    this.files.push({ segment, fragments: [], isClosed: false })
  }
  fragmentWritten(_cameraId: number, path: string, fragment: Fragment): void {
    this.#file(path).fragments.push(fragment)
  }
  segmentClosed(_cameraId: number, path: string): void {
    this.#file(path).isClosed = true
  }
  segmentBroken(_cameraId: number, path: string, { bytes }: ConfirmedPart): void {
    Object.assign(this.#file(path), { isBroken: true, confirmedBytes: bytes })
  }
  statusChanged(_cameraId: number, status: string, detail?: string): void {
    this.statuses.push(detail === undefined ? status : `${status}: ${detail}`)
  }
  gapChanged(_cameraId: number, reason: string | undefined): void {
    this.gaps.push(reason)
  }
  #file(path: string): Recorded {
    return this.files.find(({ segment }) => segment.path === path)!
  }
}

/** A disk that can be told to fail or to take its time. */
export class FaultyDisk implements RecordingDisk {
  failure: string | undefined
  syncFailure: string | undefined
  wait: Promise<void> = Promise.resolve()
  syncs = 0
  async createFile(path: string): Promise<RecordingFile> {
    await this.#check()
    const file = await nodeDisk.createFile(path)
    return {
      ...file,
      write: async (buffers, position) => {
        // A disk that fills up takes a part of the bytes.
        if (this.failure) await file.write([buffers[0]!.subarray(0, 10)], position)
        await this.#check()
        await file.write(buffers, position)
      },
      sync: async () => {
        this.syncs++
        if (this.syncFailure) throw Object.assign(new Error(this.syncFailure), { code: this.syncFailure })
        await file.sync()
      },
    }
  }
  removeFile = nodeDisk.removeFile
  async syncFolder(path: string): Promise<void> {
    await nodeDisk.syncFolder(path)
  }
  async #check(): Promise<void> {
    await this.wait
    if (this.failure) throw Object.assign(new Error(this.failure), { code: this.failure })
  }
}

let cameras = 100

/** `disk`: of the temporary archive; default: the system's. */
export function createRecorder({
  disk = nodeDisk,
  ...options
}: Partial<RecorderOptions> & { disk?: RecordingDisk } = {}) {
  const events = new EventLog()
  const cameraId = cameras++
  const recorder = new CameraRecorder({
    cameraId,
    targets: createSingleTarget({ placeId: firstPlaceId, folder: archiveDir, disk }),
    clock: systemClock,
    log: silentLogger,
    events,
    ...options,
  })
  return { recorder, events }
}

export function* take(options: SyntheticOptions, seconds: number): Generator<Frame> {
  const { start90k = 0 } = options
  for (const frame of syntheticFrames(options)) {
    if (frame.dts90k >= start90k + seconds * 90_000) return
    yield frame
  }
}

export function pushRun(recorder: CameraRecorder, runId: string, options: SyntheticOptions, seconds: number): void {
  recorder.push({ kind: 'start', runId, format: syntheticFormat(options) })
  for (const frame of take(options, seconds)) recorder.push(frame)
}

/** When the disk has taken, or refused, what was pushed. */
export async function settle(recorder: CameraRecorder): Promise<void> {
  do await new Promise((resolve) => setTimeout(resolve, 1))
  while (recorder.stats().queuedBytes > 0)
}

export const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0)

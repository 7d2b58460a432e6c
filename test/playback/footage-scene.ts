// A camera with its recorder, catalog and playback, all real except the camera and the clock, for tests of recorded
// video. Frames are pushed as fast as the disk accepts them.

import { mkdtempSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { GapReason } from '../../contract/gap-reasons.ts'
import { Catalog } from '../../server/archive/catalog.ts'
import { deleteSegments } from '../../server/archive/deletion.ts'
import type { SegmentRows } from '../../server/archive/segment-rows.ts'
import type { Clock } from '../../server/base/clock.ts'
import { silentLogger } from '../../server/base/log.ts'
import { markerName } from '../../server/places/place-folder.ts'
import { Playback, type PlaybackOptions } from '../../server/playback/playback.ts'
import type { StreamRows } from '../../server/playback/stream-rows.ts'
import { CameraRecorder } from '../../server/recorder/recorder.ts'
import { MemorySegmentRows } from '../support/archive/memory-segment-rows.ts'
import { onePlace, oneTarget } from '../support/archive/one-place.ts'
import {
  type SyntheticOptions,
  syntheticFormat,
  syntheticFrames,
  syntheticStartMs as t0,
} from '../support/media/synthetic-frames.ts'
import { MemoryStreamRows } from '../support/playback/memory-stream-rows.ts'
import { type Faults, spoilFrames } from './lossy-frames.ts'

export class TestClock implements Clock {
  ms = t0
  nowMs = () => this.ms
  monotonicMs = () => this.ms
  async sleep(ms: number): Promise<void> {
    this.ms += ms
    await new Promise(setImmediate)
  }
}

/** Disposal stops the recorder and deletes the files. */
export class FootageScene {
  readonly clock = new TestClock()
  readonly streams: StreamRows
  readonly catalog: Catalog
  readonly #archiveDir = mkdtempSync(join(tmpdir(), 'nightjar-footage-'))
  readonly places = onePlace(this.#archiveDir)
  readonly #rows: SegmentRows
  #recorder: CameraRecorder | undefined
  #runs = 0

  constructor(rows: SegmentRows = new MemorySegmentRows(), streams: StreamRows = new MemoryStreamRows()) {
    this.#rows = rows
    this.streams = streams
    writeFileSync(join(this.#archiveDir, markerName), '')
    this.catalog = new Catalog({ rows, places: this.places, clock: this.clock, log: silentLogger })
  }

  playback(options: Partial<PlaybackOptions> = {}): Playback {
    return new Playback({
      catalog: this.catalog,
      streams: this.streams,
      clock: this.clock,
      publicUrl: 'https://nightjar.test',
      nodeName: 'node-1',
      canView: async () => true,
      isLive: () => true,
      ...options,
    })
  }

  /**
   * Records footage from `fromS` to `toS`, in seconds after the start of the test's time; `Faults` use the same axis.
   * The run stays open.
   */
  async record(
    fromS: number,
    toS: number,
    { losses, pauses, damaged, steps, ...options }: SyntheticOptions & Faults = {},
  ): Promise<void> {
    const recorder = (this.#recorder ??= this.#createRecorder())
    let groups = 0
    recorder.push({ kind: 'start', runId: `run-${this.#runs++}`, format: syntheticFormat(options) })
    const frames = syntheticFrames({ ...options, startMs: t0 + fromS * 1000 })
    for (const frame of spoilFrames(frames, { losses, pauses, damaged, steps })) {
      if (frame.dts90k - (options.start90k ?? 0) >= (toS - fromS) * 90_000) break
      recorder.push(frame)
      if (frame.isKey && ++groups % 16 === 0) await this.#settle()
    }
    this.clock.ms = t0 + toS * 1000
    await this.#settle()
  }

  /** Disconnects the camera. */
  async lose(reason: GapReason): Promise<void> {
    this.#recorder?.push({ kind: 'end', reason })
    await this.#settle()
  }

  /** Deletes footage as retention does. */
  async deleteSegments(ids: readonly number[]): Promise<void> {
    const { clock } = this
    await deleteSegments({ rows: this.#rows, places: this.places, clock, log: silentLogger }, ids)
  }

  async stop(): Promise<void> {
    await this.#recorder?.close()
    this.#recorder = undefined
    await this.catalog.flush()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
    await rm(this.#archiveDir, { recursive: true })
  }

  #createRecorder(): CameraRecorder {
    const { catalog: events, clock } = this
    const withStatus = {
      segmentOpened: events.segmentOpened.bind(events),
      fragmentWritten: events.fragmentWritten.bind(events),
      segmentClosed: events.segmentClosed.bind(events),
      segmentBroken: events.segmentBroken.bind(events),
      statusChanged: () => {},
      gapChanged: () => {},
    }
    return new CameraRecorder({
      cameraId: 1,
      targets: oneTarget(this.#archiveDir),
      clock,
      log: silentLogger,
      events: withStatus,
    })
  }

  async #settle(): Promise<void> {
    while (this.#recorder && this.#recorder.stats().queuedBytes > 0) await new Promise((go) => setTimeout(go, 1))
    await this.catalog.flush()
  }
}

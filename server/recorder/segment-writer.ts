// An archive file that is being written: the initialization section, then fragments, each in a single write.

import { join } from 'node:path'
import { type KeyPlace, writeFileIndex } from '../archive/file-index.ts'
import { alternativePath, segmentPath } from '../archive/layout.ts'
import { addToChecksum, emptyChecksum, fragmentChecksum, hashInit } from '../archive/segment-checksum.ts'
import type { StreamFormat } from '../media/frame.ts'
import { checksumBoxBytes, writeChecksumBox } from '../media/mp4/checksum-box.ts'
import type { CutFragment } from '../media/mp4/fragment-cutter.ts'
import { writeFragmentNote } from '../media/mp4/fragment-note.ts'
import { audioTrackId, formatCodecs, videoTrackId, writeInitSegment } from '../media/mp4/init-segment.ts'
import { prftBytes, type TrackRun, writeFragmentHead } from '../media/mp4/media-fragment.ts'
import { createRun, SampleRecordWriter } from '../media/mp4/sample-records.ts'
import { scaleTicks } from '../media/mp4/timescale.ts'
import type { Fragment, FragmentHole } from '../model/segment.ts'
import type { ConfirmedPart, OpenSegment } from '../model/segment-views.ts'
import type { RecordingDisk, RecordingFile } from './recording-disk.ts'
import type { RecordingTarget } from './recording-targets.ts'

/** Properties of the file, known at its first key frame. */
export type SegmentPlan = {
  readonly cameraId: number
  readonly runId: string
  readonly format: StreamFormat
  /** Position of the first frame on the time axis of the run. */
  readonly runStart90k: number
  /** Wall-clock time of the first frame, whole Unix milliseconds. */
  readonly startMs: number
  readonly gapReason: string | undefined
  /** Becomes part of the name; see `RecorderOptions`. */
  readonly leaseEpoch?: number | undefined
}

/** A fragment to be written. */
export type PlannedFragment = CutFragment & {
  /** Total time of the run that the files omit so far; see `FragmentHole`. A multiple of `skipStep90k`. */
  readonly skipped90k: number
  readonly hole: FragmentHole | undefined
}

/** 40 ms is a whole number of samples at every audio rate, so that skipping time shifts audio by exactly as much. */
export const skipStep90k = 3600

/** Used again for each run that is indexed. */
let indexed = createRun(256)

export class SegmentWriter {
  readonly segment: OpenSegment
  readonly #audioRate: number
  readonly #audioStart: number
  readonly #file: RecordingFile
  readonly #disk: RecordingDisk
  readonly #fullPath: string
  /** End of the last complete fragment. */
  #bytes: number
  #checksum = emptyChecksum
  #sequence = 0
  #hasDurableName = false
  #confirmed: ConfirmedPart = { bytes: 0, checksum: emptyChecksum }
  readonly #records = new SampleRecordWriter()
  readonly #keys: KeyPlace[] = []
  /** Of the index behind the last fragment. */
  #indexBytes = 0
  #isUnsyncable = false
  #unconfirmedFrames = 0

  private constructor(
    segment: OpenSegment,
    plan: SegmentPlan,
    place: { disk: RecordingDisk; file: RecordingFile; fullPath: string },
  ) {
    this.segment = segment
    this.#audioRate = plan.format.audio?.sampleRate ?? 0
    this.#audioStart = scaleTicks(segment.runStart90k, this.#audioRate)
    this.#file = place.file
    this.#disk = place.disk
    this.#fullPath = place.fullPath
    this.#bytes = segment.initBytes
  }

  /** Checksum of the fragments in the file. */
  get checksum(): number {
    return this.#checksum
  }

  /** The length of the index behind the last fragment; 0 before it was written. */
  get indexBytes(): number {
    return this.#indexBytes
  }

  /** What the disk has confirmed, up to the end of a fragment; no bytes before the first sync. */
  get confirmed(): ConfirmedPart {
    return this.#confirmed
  }

  /**
   * True after a failed sync: what was written since the previous sync is lost, and another sync would prove nothing.
   */
  get isUnsyncable(): boolean {
    return this.#isUnsyncable
  }

  /** Frames that are in the file but not confirmed by the disk. */
  get unconfirmedFrames(): number {
    return this.#unconfirmedFrames
  }

  /** Creates the file and writes its head. Throws the disk's error; no file is then open. */
  static async open(target: RecordingTarget, plan: SegmentPlan): Promise<SegmentWriter> {
    const init = writeInitSegment(plan.format)
    const { placeId, folder, disk } = target
    const { path, file } = await createFile(target, segmentPath(plan.cameraId, plan.startMs, plan.leaseEpoch))
    try {
      await file.write([init], 0)
    } catch (error) {
      // Recording on a full disk is retried again and again, which must not leave empty files.
      await file.close().catch(() => {})
      await disk.removeFile(join(folder, path)).catch(() => {})
      throw error
    }
    const segment: OpenSegment = {
      cameraId: plan.cameraId,
      runId: plan.runId,
      runStart90k: plan.runStart90k,
      placeId,
      path,
      startMs: plan.startMs,
      initBytes: init.length,
      codecs: formatCodecs(plan.format),
      width: plan.format.video.width,
      height: plan.format.video.height,
      initHash: hashInit(init),
      gapReason: plan.gapReason,
    }
    return new SegmentWriter(segment, plan, { disk, file, fullPath: join(folder, path) })
  }

  /**
   * Appends with a single write. Throws the disk's error. In this case the file ends with a partial fragment until
   * `cutPartial` is called.
   */
  async append(cut: PlannedFragment): Promise<Fragment> {
    const { skipped90k, hole, isDamaged } = cut
    const start90k = cut.start90k - skipped90k - this.segment.runStart90k
    const runs: TrackRun[] = [{ trackId: videoTrackId, baseDecodeTime: start90k, samples: cut.video }]
    if (cut.audio.length > 0) {
      runs.push({
        trackId: audioTrackId,
        baseDecodeTime: cut.audioStart - scaleTicks(skipped90k, this.#audioRate) - this.#audioStart,
        samples: cut.audio,
      })
    }
    const head = writeFragmentHead(++this.#sequence, runs, cut.startMs)
    const content: Uint8Array[] = hole || isDamaged ? [writeFragmentNote({ hole, isDamaged }), head] : [head]
    let bytes = checksumBoxBytes + cut.bytes
    for (const { length } of content) bytes += length
    for (const { data } of cut.video) content.push(data)
    for (const { data } of cut.audio) content.push(data)
    const checksum = fragmentChecksum(content)
    const box = writeChecksumBox({ checksum, cameraId: this.segment.cameraId })
    const offset = this.#bytes
    await this.#file.write([box, ...content], offset)
    this.#bytes = offset + bytes
    const moofAt = bytes - cut.bytes - head.length + prftBytes
    this.#index(runs, { offset, moofAt, dataAt: bytes - cut.bytes, isKey: cut.isKey })
    this.#checksum = addToChecksum(this.#checksum, checksum)
    this.#unconfirmedFrames += cut.video.length
    return {
      offset,
      bytes,
      start90k,
      duration90k: cut.duration90k,
      startMs: cut.startMs,
      durationMs: cut.durationMs,
      isKey: cut.isKey,
      ...(hole && { hole }),
      ...(isDamaged && { isDamaged }),
    }
  }

  /**
   * Writes the index behind the last fragment. Call it before the last sync. If the disk refuses it, the file stays without
   * one. Throws if what was written of it cannot be cut off.
   */
  async writeIndex(): Promise<void> {
    const { cameraId } = this.segment
    const records = this.#records.read()
    const { count } = this.#records
    if (count === 0) return
    const bytes = writeFileIndex({ cameraId, checksum: this.#checksum, count, records }, this.#keys)
    try {
      await this.#file.write([bytes], this.#bytes)
      this.#indexBytes = bytes.length
    } catch {
      await this.cutPartial()
    }
  }

  /** `moofAt` and `dataAt`: of the `moof` and of the first sample, from the beginning of the fragment. */
  #index(
    runs: readonly TrackRun[],
    { offset, moofAt, dataAt, isKey }: { offset: number; moofAt: number; dataAt: number; isKey: boolean },
  ): void {
    this.#records.begin(runs.length)
    let dataOffset = dataAt
    for (const { trackId, baseDecodeTime, samples } of runs) {
      if (samples.length > indexed.sizes.length) indexed = createRun(samples.length * 2)
      const run = indexed
      run.trackId = trackId
      run.baseDecodeTime = baseDecodeTime
      run.dataOffset = dataOffset
      run.count = samples.length
      for (let i = 0; i < samples.length; i++) {
        const sample = samples[i]!
        run.sizes[i] = sample.data.length
        run.durations[i] = sample.duration
        run.compositionOffsets[i] = sample.compositionOffset
        run.isKey[i] = sample.isKey && sample.recovery === undefined ? 1 : 0
        dataOffset += sample.data.length
      }
      this.#records.addRun(run)
      if (trackId !== videoTrackId || !isKey) continue
      this.#keys.push({
        time: Math.max(0, baseDecodeTime + run.compositionOffsets[0]!),
        moofOffset: offset + moofAt,
      })
    }
  }

  /**
   * Makes the file's content and name durable. Throws the disk's error, then and at every later call: after a failed
   * sync, Linux marks the unwritten pages as clean, so that the next sync succeeds without writing them.
   */
  async sync(): Promise<void> {
    if (this.#isUnsyncable) throw new Error('an earlier sync of the file failed')
    const reached = { bytes: this.#bytes, checksum: this.#checksum }
    const frames = this.#unconfirmedFrames
    try {
      await this.#file.sync()
      // The entry of a new file must be durable too; without it, the file cannot be found.
      if (!this.#hasDurableName) await this.#disk.syncFolder(this.#fullPath)
    } catch (error) {
      this.#isUnsyncable = true
      throw error
    }
    this.#hasDurableName = true
    this.#confirmed = reached
    this.#unconfirmedFrames -= frames
  }

  /** After a failed `append`: truncates the file to its last complete fragment. */
  cutPartial(): Promise<void> {
    return this.#file.truncate(this.#bytes)
  }

  /**
   * After a failed sync: truncates the file to what the disk has confirmed. A repair after a crash reads through the
   * page cache and must not find data that exists only there.
   */
  cutUnconfirmed(): Promise<void> {
    return this.#file.truncate(this.#confirmed.bytes)
  }

  /** Closes the file without a sync. Never throws: an error while closing a synced file has no consequence. */
  async close(): Promise<void> {
    await this.#file.close().catch(() => {})
  }
}

async function createFile(
  { disk, folder }: RecordingTarget,
  wanted: string,
): Promise<{ path: string; file: RecordingFile }> {
  for (let attempt = 0; ; attempt++) {
    const path = attempt === 0 ? wanted : alternativePath(wanted, attempt)
    try {
      return { path, file: await disk.createFile(join(folder, path)) }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || attempt === 100) throw error
    }
  }
}

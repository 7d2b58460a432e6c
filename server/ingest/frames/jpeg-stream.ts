// Turns whole JPEGs without timestamps into runs and frames on the hub. The frames have their times of arrival.

import type { Clock } from '../../base/clock.ts'
import type { HubItem } from '../../hub/hub-item.ts'
import type { StreamFormat, VideoFormat } from '../../media/frame.ts'
import { createJpegFormat, parseJpegHeader } from '../../media/jpeg/jpeg-header.ts'
import type { ArrivalClock } from '../clock/arrival-clock.ts'
import type { CameraStats } from './camera-stats.ts'
import { maxUnreportedMs, type RunLimit } from './run-limit.ts'

export type JpegStreamOptions = {
  readonly clock: Clock
  readonly arrivalClock: ArrivalClock
  readonly stats: CameraStats
  /** Time of the camera's last frame so far, by `arrivalClock`. Later frames are never stamped earlier. */
  readonly floorMs: number
  /** State that is kept across connections. */
  readonly memory?: { setMs: number | undefined }
  readonly createRunId: () => string
  /** Shared by all connections of the camera. */
  readonly runLimit: RunLimit
  publish(item: HubItem): void
  /** Called when a run begins, after its `start` was published and before its first frame is. */
  onRun(format: StreamFormat): void
}

/**
 * If the arrival clock has been adjusted by more than this during a run, a new run begins, so that the footage has the
 * correct time.
 */
const stepMs = 2000

/**
 * Images that were held up arrive together. If they were hardly apart, FFmpeg would take the usual step after them, which is a
 * thousand times as long, for a discontinuity. No camera sends images faster.
 */
const leastStep90k = 180

export class JpegStream {
  /** The number of frames that arrived, published or not. */
  frames = 0
  published = 0
  /** Time of the last frame; see `floorMs`. */
  lastWallMs: number
  readonly #options: JpegStreamOptions
  #format: VideoFormat | undefined
  #runStartMs = 0
  /** `ArrivalClock.setMs` with which the current run is labeled. */
  #setMs: number
  /** Wall clock minus the run's time. */
  #offsetMs = 0
  #lastPts90k = -leastStep90k
  /** When the last frame was published, monotonic. */
  #keptMs = 0

  constructor(options: JpegStreamOptions) {
    this.#options = options
    this.lastWallMs = options.floorMs
    this.#setMs = options.memory?.setMs ?? options.arrivalClock.setMs
  }

  /** Takes a JPEG file that has just arrived. The caller must not change it afterwards. */
  take(jpeg: Uint8Array): void {
    const { clock, arrivalClock, stats, publish } = this.#options
    this.frames++
    const size = findSize(jpeg)
    if (!size) {
      stats.badPackets++
      stats.droppedFrames++
      return
    }
    const nowMs = clock.monotonicMs()
    const wallMs = Math.round(arrivalClock.nowMs())
    const isSameSize = this.#format?.width === size.width && this.#format.height === size.height
    const isStepped = arrivalClock.setMs !== this.#setMs || Math.abs(wallMs - nowMs - this.#offsetMs) > stepMs
    if (!isSameSize || isStepped) {
      if (!this.#options.runLimit.take(nowMs)) {
        this.#skip(nowMs)
        return
      }
      this.#beginRun(createJpegFormat(size), nowMs, wallMs)
    }
    this.#keptMs = nowMs
    const pts90k = Math.max(this.#lastPts90k + leastStep90k, Math.round((nowMs - this.#runStartMs) * 90))
    this.#lastPts90k = pts90k
    this.lastWallMs = Math.max(this.lastWallMs, wallMs)
    stats.videoFrames++
    this.published++
    const labelMs = Math.round(this.lastWallMs + this.#setMs)
    publish({ kind: 'video', pts90k, dts90k: pts90k, wallMs: labelMs, isKey: true, data: jpeg })
  }

  /** Drops a frame. Ends the run after some time without frames, so that the timeline shows a gap with its reason. */
  #skip(nowMs: number): void {
    const { stats, publish } = this.#options
    stats.refusedRuns++
    stats.droppedFrames++
    if (!this.#format || nowMs - this.#keptMs <= maxUnreportedMs) return
    this.#format = undefined
    publish({ kind: 'end', reason: 'stream_changed' })
  }

  #beginRun(video: VideoFormat, nowMs: number, wallMs: number): void {
    const { stats, publish, createRunId, onRun, arrivalClock, memory } = this.#options
    const clockSetMs = arrivalClock.setMs - this.#setMs
    this.#setMs = arrivalClock.setMs
    if (memory) memory.setMs = this.#setMs
    this.#format = video
    this.#runStartMs = nowMs
    this.#offsetMs = wallMs - nowMs
    this.#lastPts90k = -leastStep90k
    stats.runs++
    const format = { video, audio: undefined }
    publish({ kind: 'start', runId: createRunId(), format, ...(clockSetMs !== 0 && { clockSetMs }) })
    onRun(format)
  }
}

/**
 * A little more than 8K, the limit of the decoder. A few bytes may claim a size of 65,535 × 65,535 pixels, and every
 * viewer would allocate the memory.
 */
const maxPixels = 40_000_000

/** Undefined if this is not a JPEG, or one that is too large to be displayed. */
function findSize(jpeg: Uint8Array): { width: number; height: number } | undefined {
  try {
    const { width, height } = parseJpegHeader(jpeg)
    return width * height <= maxPixels ? { width, height } : undefined
  } catch {
    return undefined
  }
}

// The worker's side of a live subscription: reads one camera's hub and sends chunks of one format. It never waits for
// its reader. If too many bytes are unacknowledged, it drops chunks up to the next key frame.

import type { CameraHub } from '../hub/camera-hub.ts'
import type { HubItem } from '../hub/hub-item.ts'
import type { Frame, StreamFormat } from '../media/frame.ts'
import { createLiveMuxer } from './create-live-muxer.ts'
import { type LiveChunk, type LiveFormat, minSegmentMs } from './live-chunk.ts'
import type { LiveMuxer } from './live-muxer.ts'
import { PartRhythm } from './part-rhythm.ts'

export type { LiveChunk, LiveFormat }

export type LiveSourceOptions = {
  readonly hub: CameraHub
  readonly format: LiveFormat
  /** Called synchronously and in order. May transfer `chunk.data`. Must not throw. */
  send(chunk: LiveChunk): void
  /**
   * The maximum number of unacknowledged media bytes, not counting the initial group of pictures. One chunk is always
   * allowed.
   */
  readonly maxUnackedBytes: number
  /** `keyframes` only: at most one key frame per this time. */
  readonly minIntervalMs?: number
}

export type LiveSourceStats = { readonly unackedBytes: number; readonly dropped: number; readonly badFrames: number }

export type LiveSource = {
  /** Acknowledges bytes of `chunk.data`. */
  ack(bytes: number): void
  close(): void
  stats(): LiveSourceStats
}

/**
 * Attaches to the hub and stays attached across the camera's runs. Each run produces `init`, chunks from a key frame
 * on, and `end`.
 */
export function openLiveSource(options: LiveSourceOptions): LiveSource {
  const sink = new SourceSink(options)
  // HLS players begin a few segments before the newest one. Other viewers want the newest frame.
  const detach = options.hub.attach(sink, { withEarlier: options.format === 'hls' })
  sink.endBacklog()
  return {
    ack: (bytes) => sink.ack(bytes),
    close: detach,
    stats: () => sink.stats(),
  }
}

class SourceSink {
  readonly #options: LiveSourceOptions
  #muxer: LiveMuxer | undefined
  #isWaitingForKey = true
  #isInGap = false
  /**
   * True while the hub sends its backlog. The hub bounds it, so it is not counted here; viewers cannot start without
   * it.
   */
  #isInBacklog = true
  #unackedBacklogBytes = 0
  #unackedBytes = 0
  #dropped = 0
  #badFrames = 0
  /** Set for `hls` only: whether there is an audio track. All runs follow the first. */
  #hasAudio: boolean | undefined
  readonly #rhythm = new PartRhythm(minSegmentMs)

  constructor(options: LiveSourceOptions) {
    this.#options = options
  }

  push(item: HubItem): void {
    if (item.kind === 'start') this.#startRun(item.format)
    else if (item.kind === 'end') this.#endRun()
    else this.#takeFrame(item)
  }

  endBacklog(): void {
    this.#isInBacklog = false
  }

  ack(bytes: number): void {
    const ofBacklog = Math.min(bytes, this.#unackedBacklogBytes)
    this.#unackedBacklogBytes -= ofBacklog
    this.#unackedBytes = Math.max(0, this.#unackedBytes - (bytes - ofBacklog))
  }

  stats(): LiveSourceStats {
    const unackedBytes = this.#unackedBacklogBytes + this.#unackedBytes
    return { unackedBytes, dropped: this.#dropped, badFrames: this.#badFrames }
  }

  #startRun(format: StreamFormat): void {
    this.#endRun()
    const { format: liveFormat, minIntervalMs = 0, send } = this.#options
    try {
      this.#hasAudio ??= format.audio !== undefined
      this.#muxer = createLiveMuxer(liveFormat, format, {
        minIntervalMs,
        hasAudio: this.#hasAudio,
        rhythm: this.#rhythm,
      })
    } catch {
      // The format cannot carry the camera's codec. Its viewers see a camera that sends nothing.
      this.#badFrames++
      return
    }
    this.#isWaitingForKey = true
    this.#isInGap = false
    send({ kind: 'init', isKey: false, wallMs: 0, durationMs: 0, data: this.#muxer.init, format })
  }

  #endRun(): void {
    if (!this.#muxer) return
    if (!this.#isWaitingForKey) for (const chunk of this.#flush()) this.#deliver(chunk)
    this.#muxer = undefined
    this.#options.send(marker('end'))
  }

  #takeFrame(frame: Frame): void {
    if (!this.#muxer) return
    if (this.#isWaitingForKey) {
      if (frame.kind !== 'video' || !frame.isKey) return
      this.#isWaitingForKey = false
    }
    let chunks: readonly LiveChunk[]
    try {
      chunks = this.#muxer.push(frame)
    } catch {
      this.#badFrames++
      this.#dropToKeyFrame()
      return
    }
    for (const chunk of chunks) this.#deliver(chunk)
  }

  #flush(): readonly LiveChunk[] {
    try {
      return this.#muxer?.flush() ?? []
    } catch {
      this.#badFrames++
      return []
    }
  }

  #deliver(chunk: LiveChunk): void {
    // After a loss the muxer may still hold a part that begins inside the lost group.
    if (this.#isInGap && !chunk.isKey) return
    if (this.#isInBacklog) {
      this.#unackedBacklogBytes += chunk.data.length
      this.#options.send({ ...chunk, isBacklog: true })
      return
    }
    const isOver = this.#unackedBytes > 0 && this.#unackedBytes + chunk.data.length > this.#options.maxUnackedBytes
    if (isOver) {
      this.#dropped++
      this.#dropToKeyFrame()
      return
    }
    this.#isInGap = false
    this.#unackedBytes += chunk.data.length
    this.#options.send(chunk)
  }

  #dropToKeyFrame(): void {
    // Group fragments end with the key frame after them: that frame is already in the muxer, which goes on with it.
    if (this.#options.format !== 'hls') this.#isWaitingForKey = true
    if (this.#isInGap) return
    this.#isInGap = true
    this.#options.send(marker('gap'))
  }
}

function marker(kind: 'gap' | 'end'): LiveChunk {
  return { kind, isKey: false, wallMs: 0, durationMs: 0, data: new Uint8Array() }
}

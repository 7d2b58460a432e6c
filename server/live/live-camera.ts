// The live views of one camera on the main thread: its viewers and the subscriptions that they need.

import type { ByteBudget } from '../base/byte-budget.ts'
import type { Clock } from '../base/clock.ts'
import { AppError } from '../base/error.ts'
import type { ImageLimits } from '../media/image-size.ts'
import type { DropLog } from './drop-log.ts'
import { HlsStream, type Holding, type PlaylistOptions } from './hls-stream.ts'
import { type KeyFrameDecoder, KeyFrameImages } from './key-frame-images.ts'
import type { LiveFormat } from './live-chunk.ts'
import type { LiveSubscriber } from './live-subscriber.ts'
import { runMjpeg } from './mjpeg.ts'
import { type MseChunk, runMse, runProgressive } from './progressive.ts'
import { SharedStream } from './shared-stream.ts'
import { ViewerQueue } from './viewer-queue.ts'

/** What all cameras share. See LiveStreamsOptions. */
export type LiveCameraOptions = {
  readonly subscriber: LiveSubscriber
  readonly decoder: KeyFrameDecoder
  readonly clock: Clock
  readonly drops: DropLog
  readonly maxViewerBytes: number
  readonly maxRetainedBytes: number
  readonly retainedBudget: ByteBudget
  readonly hlsBudget: ByteBudget
  readonly lingerMs: number
  readonly firstTimeoutMs: number
  readonly snapshotTimeoutMs: number
  readonly keyIntervalMs: (cameraId: number) => number | undefined
  readonly hlsIdleMs: number
}

/** How long to wait for the first of a camera that sends nothing: shorter where it is known to be away. */
export type WaitOptions = { readonly waitMs?: number | undefined }

/** `account`: the user who requests images and takes turns with others; undefined for the server itself. */
export type SnapshotOptions = WaitOptions & {
  readonly account?: number | undefined
  /** Aborted when the viewer leaves. */
  readonly signal?: AbortSignal
}

export type MjpegViewerOptions = ImageLimits & {
  readonly account?: number | undefined
  /** The maximum number of images per second. Undefined: one for every key frame. */
  readonly refreshRate?: number | undefined
  readonly signal: AbortSignal
}

export type Snapshot = {
  readonly jpeg: Uint8Array
  /** When the camera took the image, in Unix milliseconds. */
  readonly wallMs: number
}

export type LiveCameraStats = {
  readonly viewers: { readonly mp4: number; readonly mpegts: number; readonly mjpeg: number; readonly hls: number }
  readonly subscriptions: number
  /** Bytes kept for viewers that join and for HLS players. */
  readonly retainedBytes: number
}

/**
 * A key frame may come a little later than the ones before it. It is not waited for longer than a connection is given
 * for it.
 */
const keyIntervalMargin = 1.2
const maxKeyWaitMs = 75_000
/** Of a camera that has not sent two key frames yet. Cameras that save space send one every 10 s or more. */
const unknownKeyIntervalMs = 15_000

const maxMseWaitMs = 1000

/**
 * The longest interval at which the source is asked for key frames. It sends fewer than the camera does if no viewer
 * needs them all.
 */
const maxKeyFrameIntervalMs = 1000

export class LiveCamera {
  readonly #id: number
  readonly #options: LiveCameraOptions
  readonly #streams = new Map<LiveFormat, SharedStream>()
  readonly #viewers = new Set<ViewerQueue>()
  readonly #counts = { mp4: 0, mpegts: 0, mjpeg: 0 }
  #images: KeyFrameImages | undefined
  /** Viewers of `images`: they share one place in the key frame stream. */
  #imageUsers = 0
  #leaveKeyFrames: (() => void) | undefined
  #hls: HlsStream | undefined
  /** Must not decrease while the server runs. */
  #nextDiscontinuitySequence = 0

  constructor(id: number, options: LiveCameraOptions) {
    this.#id = id
    this.#options = options
  }

  /**
   * A file without end: first its head and a group of pictures, then what comes. Nothing is opened before the first
   * step. Ends when the camera's run ends (players reconnect; a new run has a new time axis), when `signal` aborts or
   * the camera is closed. The first step throws 'unavailable' when the camera sends nothing for 10 s plus the interval
   * of its key frames, or for `waitMs`. A viewer that falls behind by more than `maxViewerBytes` goes on at the next
   * key frame. Abort `signal` when the viewer leaves: a waiting step ends only so.
   */
  async *openViewer(
    format: 'mp4' | 'mpegts',
    { signal, waitMs = this.#firstWaitMs() }: WaitOptions & { readonly signal: AbortSignal },
  ): AsyncGenerator<Uint8Array, void, void> {
    if (signal.aborted) return
    const { queue, leave } = this.#join(format)
    try {
      yield* runProgressive(queue, { format, clock: this.#options.clock, firstTimeoutMs: waitMs, signal })
    } finally {
      leave()
    }
  }

  /**
   * As `openViewer`, for a page that plays it with Media Source (mse-stream.ts). It goes on at the next key frame when
   * what it has not read is older than a second: an older image is worth nothing to it.
   */
  async *openMseViewer({
    hasAudio,
    signal,
    waitMs = this.#firstWaitMs(),
  }: WaitOptions & { readonly hasAudio: boolean; readonly signal: AbortSignal }): AsyncGenerator<MseChunk, void, void> {
    if (signal.aborted) return
    const { queue, leave } = this.#join('mp4', maxMseWaitMs)
    try {
      yield* runMse(queue, { hasAudio, clock: this.#options.clock, firstTimeoutMs: waitMs, signal })
    } finally {
      leave()
    }
  }

  /**
   * JPEGs of key frames: at most `refreshRate` a second, always the newest, the first at once. Goes on when the camera
   * comes back. Ends when `signal` aborts or the camera is closed; the first step throws 'unavailable' when no image
   * comes in 10 s.
   */
  async *openMjpeg(options: MjpegViewerOptions): AsyncGenerator<Uint8Array, void, void> {
    const { refreshRate, maxWidth, maxHeight, account, signal } = options
    if (signal.aborted) return
    const { clock } = this.#options
    const firstTimeoutMs = this.#firstWaitMs()
    const intervalMs = refreshRate === undefined ? 0 : 1000 / refreshRate
    const { images, release } = this.#useKeyFrames(intervalMs)
    this.#counts.mjpeg++
    try {
      const limits = { maxWidth, maxHeight }
      yield* runMjpeg(images, { limits, account, intervalMs, firstTimeoutMs, clock, signal })
    } finally {
      this.#counts.mjpeg--
      release()
    }
  }

  /**
   * The newest key frame as a JPEG. Throws 'unavailable' when the camera gives none within 5 s plus the interval of its
   * key frames, or `waitMs`, it cannot be decoded, or `signal` aborts before.
   */
  async snapshot(limits: ImageLimits = {}, options: SnapshotOptions = {}): Promise<Snapshot> {
    const { clock, snapshotTimeoutMs } = this.#options
    const { waitMs = this.#firstWaitMs(snapshotTimeoutMs), account, signal } = options
    const { images, release } = this.#useKeyFrames(maxKeyFrameIntervalMs)
    try {
      signal?.throwIfAborted()
      const untilMs = clock.monotonicMs() + waitMs
      while (!images.newest) {
        const leftMs = untilMs - clock.monotonicMs()
        if (leftMs <= 0 || images.isClosed) {
          throw new AppError('unavailable', `the camera sent no key frame within ${waitMs / 1000} s`)
        }
        await images.changed.wait(clock, leftMs, signal)
        signal?.throwIfAborted()
      }
      const frame = images.newest
      return { jpeg: await images.getImage(frame, { limits, account }), wallMs: frame.wallMs }
    } catch (error) {
      if (signal?.aborted) throw new AppError('unavailable', 'the request was aborted before the image was decoded')
      if (error instanceof AppError && error.kind === 'unavailable') throw error
      throw new AppError('unavailable', 'the newest key frame of the camera could not be decoded', { cause: error })
    } finally {
      release()
    }
  }

  /**
   * The playlist of the newest segments; `segmentUrl` makes a URL of a name. The first one waits until there is enough
   * to play. Throws 'unavailable' when there is no segment within 10 s plus the interval of the camera's key frames, or
   * `waitMs`.
   */
  hlsPlaylist(
    segmentUrl: (name: string) => string,
    { waitMs = this.#firstWaitMs(), ...options }: WaitOptions & Omit<PlaylistOptions, 'waitMs'> = {},
  ): Promise<string> {
    this.#hls ??= new HlsStream({
      subscribe: (onChunk) => this.#options.subscriber.subscribe(this.#id, 'hls', onChunk),
      clock: this.#options.clock,
      idleMs: this.#options.hlsIdleMs,
      budget: this.#options.hlsBudget,
      firstDiscontinuitySequence: this.#nextDiscontinuitySequence,
      onClosed: (nextDiscontinuitySequence) => {
        this.#hls = undefined
        this.#nextDiscontinuitySequence = nextDiscontinuitySequence
      },
    })
    return this.#hls.playlist(segmentUrl, { ...options, waitMs })
  }

  /** A segment, part or initialization section (all `video/mp4`) of the playlist; see HlsStream. Throws 'not_found'. */
  async hlsSegment(name: string, holding?: Holding): Promise<Uint8Array> {
    if (!this.#hls) throw new AppError('not_found', `no live segment ${name}: nobody has read the playlist lately`)
    return this.#hls.segment(name, holding)
  }

  /** Disconnects all viewers. */
  close(): void {
    for (const queue of this.#viewers) queue.abort()
    this.#images?.close()
    this.#hls?.close()
    for (const stream of this.#streams.values()) stream.close()
  }

  stats(): LiveCameraStats {
    const streams = [...this.#streams.values()]
    return {
      viewers: { ...this.#counts, hls: this.#hls ? 1 : 0 },
      subscriptions: streams.filter((stream) => stream.isOpen).length + (this.#hls ? 1 : 0),
      retainedBytes: streams.reduce((sum, { retainedBytes }) => sum + retainedBytes, this.#hls?.bytes ?? 0),
    }
  }

  /** A viewer who joins between two key frames has to wait for the second one. */
  #firstWaitMs(usualMs = this.#options.firstTimeoutMs): number {
    const keyIntervalMs = this.#options.keyIntervalMs(this.#id) ?? unknownKeyIntervalMs
    return usualMs + Math.min(maxKeyWaitMs, keyIntervalMs * keyIntervalMargin)
  }

  #join(format: 'mp4' | 'mpegts', maxWaitMs?: number): { queue: ViewerQueue; leave: () => void } {
    const { clock, maxViewerBytes, drops } = this.#options
    const onDrop = (chunks: number) => drops.add(this.#id, format, chunks)
    const queue = new ViewerQueue({ maxBytes: maxViewerBytes, maxWaitMs, clock, onDrop })
    this.#counts[format]++
    this.#viewers.add(queue)
    const leaveStream = this.#stream(format).join(queue)
    const leave = () => {
      leaveStream()
      this.#viewers.delete(queue)
      this.#counts[format]--
    }
    return { queue, leave }
  }

  #stream(format: 'mp4' | 'mpegts' | 'keyframes'): SharedStream {
    let stream = this.#streams.get(format)
    if (!stream) {
      const { subscriber, clock, lingerMs, maxRetainedBytes, retainedBudget } = this.#options
      stream = new SharedStream({
        subscribe: (onChunk, minIntervalMs) => subscriber.subscribe(this.#id, format, onChunk, { minIntervalMs }),
        clock,
        lingerMs,
        maxRetainedBytes,
        budget: retainedBudget,
      })
      this.#streams.set(format, stream)
    }
    return stream
  }

  #useKeyFrames(intervalMs: number): { images: KeyFrameImages; release: () => void } {
    const { decoder, clock } = this.#options
    const stream = this.#stream('keyframes')
    // Four times as many as this viewer takes, so that the newest is fresh when its turn comes.
    stream.lowerInterval(Math.min(maxKeyFrameIntervalMs, intervalMs / 4))
    this.#images ??= new KeyFrameImages(this.#id, decoder, clock)
    const images = this.#images
    if (this.#imageUsers++ === 0) {
      this.#leaveKeyFrames = stream.join(images)
      // The camera may have left since the last user did.
      if (stream.retainedBytes === 0) images.forget()
    }
    const release = () => {
      if (--this.#imageUsers === 0) this.#leaveKeyFrames?.()
    }
    return { images, release }
  }
}

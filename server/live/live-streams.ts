// Manages the live views of all cameras on the main thread: the viewers and the subscriptions that they need. HTTP and
// authorization belong to the API.

import { ByteBudget } from '../base/byte-budget.ts'
import type { Clock } from '../base/clock.ts'
import { AppError } from '../base/error.ts'
import type { Logger } from '../base/log.ts'
import type { ImageLimits } from '../media/image-size.ts'
import { DropLog } from './drop-log.ts'
import { HlsStream } from './hls-stream.ts'
import { type KeyFrameDecoder, KeyFrameImages } from './key-frame-images.ts'
import type { LiveFormat } from './live-chunk.ts'
import type { LiveSubscriber, LiveSubscription } from './live-subscriber.ts'
import { runMjpeg } from './mjpeg.ts'
import { type MseChunk, runMse, runProgressive } from './progressive.ts'
import { SharedStream } from './shared-stream.ts'
import { ViewerQueue } from './viewer-queue.ts'

export type { LiveSubscriber, LiveSubscription }

export type LiveStreamsOptions = {
  readonly subscriber: LiveSubscriber
  readonly decoder: KeyFrameDecoder
  readonly clock: Clock
  readonly log: Logger
  /** How many bytes a viewer may lag behind before it continues at the next key frame. */
  readonly maxViewerBytes?: number
  /** Bytes kept per camera and format so that a new viewer starts at once, and of all together. */
  readonly maxRetainedBytes?: number
  readonly maxTotalRetainedBytes?: number
  /** Limit for the HLS segments of all cameras together, in bytes. */
  readonly maxTotalHlsBytes?: number
  /** How long a subscription outlives its last viewer. */
  readonly lingerMs?: number
  /** How long a new viewer waits for a camera that sends nothing. */
  readonly firstTimeoutMs?: number
  readonly snapshotTimeoutMs?: number
  /** The interval of a camera's key frames; undefined if it is not known yet. A new viewer waits that much longer. */
  readonly keyIntervalMs?: (cameraId: number) => number | undefined
  /** An HLS stream is closed after this time without a request. */
  readonly hlsIdleMs?: number
}

/** How long to wait for the first of a camera that sends nothing: shorter where it is known to be away. */
export type WaitOptions = { readonly waitMs?: number | undefined }

export type PlaylistOptions = WaitOptions & {
  /** For a player that begins with two segments: others are given three where that takes no more than some seconds. */
  readonly isEarly?: boolean | undefined
}

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

export type LiveStats = {
  readonly viewers: { readonly mp4: number; readonly mpegts: number; readonly mjpeg: number; readonly hls: number }
  readonly subscriptions: number
  readonly retainedBytes: number
  readonly droppedChunks: number
}

type Camera = {
  readonly streams: Map<LiveFormat, SharedStream>
  readonly viewers: Set<ViewerQueue>
  images: KeyFrameImages | undefined
  /** Viewers of `images`: they share one place in the key frame stream. */
  imageUsers: number
  leaveKeyFrames: (() => void) | undefined
  hls: HlsStream | undefined
  /** Must not decrease while the server runs. */
  nextDiscontinuitySequence: number
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

export class LiveStreams {
  readonly #options: Required<LiveStreamsOptions>
  readonly #cameras = new Map<number, Camera>()
  readonly #drops: DropLog
  readonly #retainedBudget: ByteBudget
  readonly #hlsBudget: ByteBudget
  #viewers = { mp4: 0, mpegts: 0, mjpeg: 0 }

  constructor(options: LiveStreamsOptions) {
    this.#options = {
      maxViewerBytes: 4 * 1024 * 1024,
      maxRetainedBytes: 64 * 1024 * 1024,
      maxTotalRetainedBytes: 512 * 1024 * 1024,
      maxTotalHlsBytes: 2048 * 1024 * 1024,
      lingerMs: 5000,
      firstTimeoutMs: 10_000,
      snapshotTimeoutMs: 5000,
      keyIntervalMs: () => 0,
      hlsIdleMs: 30_000,
      ...options,
    }
    this.#retainedBudget = new ByteBudget(this.#options.maxTotalRetainedBytes)
    this.#hlsBudget = new ByteBudget(this.#options.maxTotalHlsBytes)
    this.#drops = new DropLog(options.log, options.clock)
  }

  /**
   * A file without end: first its head and a group of pictures, then what comes. Nothing is opened before the first
   * step. Ends when the camera's run ends (players reconnect; a new run has a new time axis), when `signal` aborts or
   * the camera is closed. The first step throws 'unavailable' when the camera sends nothing for 10 s plus the interval
   * of its key frames, or for `waitMs`. A viewer that falls behind by more than `maxViewerBytes` goes on at the next
   * key frame. Abort `signal` when the viewer leaves: a waiting step ends only so.
   */
  async *openViewer(
    cameraId: number,
    format: 'mp4' | 'mpegts',
    { signal, waitMs = this.#firstWaitMs(cameraId) }: WaitOptions & { readonly signal: AbortSignal },
  ): AsyncGenerator<Uint8Array, void, void> {
    if (signal.aborted) return
    const { queue, leave } = this.#join(cameraId, format)
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
  async *openMseViewer(
    cameraId: number,
    {
      hasAudio,
      signal,
      waitMs = this.#firstWaitMs(cameraId),
    }: WaitOptions & { readonly hasAudio: boolean; readonly signal: AbortSignal },
  ): AsyncGenerator<MseChunk, void, void> {
    if (signal.aborted) return
    const { queue, leave } = this.#join(cameraId, 'mp4', maxMseWaitMs)
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
  async *openMjpeg(cameraId: number, options: MjpegViewerOptions): AsyncGenerator<Uint8Array, void, void> {
    const { refreshRate, maxWidth, maxHeight, account, signal } = options
    if (signal.aborted) return
    const { clock } = this.#options
    const firstTimeoutMs = this.#firstWaitMs(cameraId)
    const intervalMs = refreshRate === undefined ? 0 : 1000 / refreshRate
    const { images, release } = this.#useKeyFrames(cameraId, intervalMs)
    this.#viewers.mjpeg++
    try {
      const limits = { maxWidth, maxHeight }
      yield* runMjpeg(images, { limits, account, intervalMs, firstTimeoutMs, clock, signal })
    } finally {
      this.#viewers.mjpeg--
      release()
    }
  }

  /**
   * The newest key frame as a JPEG. Throws 'unavailable' when the camera gives none within 5 s plus the interval of its
   * key frames, or `waitMs`, it cannot be decoded, or `signal` aborts before.
   */
  async snapshot(cameraId: number, limits: ImageLimits = {}, options: SnapshotOptions = {}): Promise<Snapshot> {
    const { clock, snapshotTimeoutMs } = this.#options
    const { waitMs = this.#firstWaitMs(cameraId, snapshotTimeoutMs), account, signal } = options
    const { images, release } = this.#useKeyFrames(cameraId, maxKeyFrameIntervalMs)
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
    cameraId: number,
    segmentUrl: (name: string) => string,
    { waitMs = this.#firstWaitMs(cameraId), isEarly }: PlaylistOptions = {},
  ): Promise<string> {
    const camera = this.#camera(cameraId)
    camera.hls ??= new HlsStream({
      stream: this.#stream(cameraId, camera, 'hls'),
      clock: this.#options.clock,
      idleMs: this.#options.hlsIdleMs,
      budget: this.#hlsBudget,
      firstDiscontinuitySequence: camera.nextDiscontinuitySequence,
      onClosed: (nextDiscontinuitySequence) => {
        camera.hls = undefined
        camera.nextDiscontinuitySequence = nextDiscontinuitySequence
      },
    })
    return camera.hls.playlist(segmentUrl, { waitMs, isEarly })
  }

  /** A segment or initialization section (both `video/mp4`) of the playlist. Throws 'not_found'. */
  async hlsSegment(cameraId: number, name: string): Promise<Uint8Array> {
    const hls = this.#cameras.get(cameraId)?.hls
    if (!hls) throw new AppError('not_found', `no live segment ${name}: nobody has read the playlist lately`)
    return hls.segment(name)
  }

  /** Disconnects all viewers of a camera that was removed. */
  closeCamera(cameraId: number): void {
    const camera = this.#cameras.get(cameraId)
    if (!camera) return
    this.#cameras.delete(cameraId)
    for (const queue of camera.viewers) queue.abort()
    camera.images?.close()
    camera.hls?.close()
    for (const stream of camera.streams.values()) stream.close()
  }

  close(): void {
    for (const cameraId of [...this.#cameras.keys()]) this.closeCamera(cameraId)
  }

  stats(): LiveStats {
    const cameras = [...this.#cameras.values()]
    const streams = cameras.flatMap((camera) => [...camera.streams.values()])
    return {
      viewers: { ...this.#viewers, hls: cameras.filter((camera) => camera.hls).length },
      subscriptions: streams.filter((stream) => stream.isOpen).length,
      retainedBytes: [...streams.map((s) => s.retainedBytes), ...cameras.map((c) => c.hls?.bytes ?? 0)].reduce(
        (sum, bytes) => sum + bytes,
        0,
      ),
      droppedChunks: this.#drops.total,
    }
  }

  /** A viewer who joins between two key frames has to wait for the second one. */
  #firstWaitMs(cameraId: number, usualMs = this.#options.firstTimeoutMs): number {
    const keyIntervalMs = this.#options.keyIntervalMs(cameraId) ?? unknownKeyIntervalMs
    return usualMs + Math.min(maxKeyWaitMs, keyIntervalMs * keyIntervalMargin)
  }

  #join(cameraId: number, format: 'mp4' | 'mpegts', maxWaitMs?: number): { queue: ViewerQueue; leave: () => void } {
    const { clock, maxViewerBytes } = this.#options
    const camera = this.#camera(cameraId)
    const onDrop = (chunks: number) => this.#drops.add(cameraId, format, chunks)
    const queue = new ViewerQueue({ maxBytes: maxViewerBytes, maxWaitMs, clock, onDrop })
    this.#viewers[format]++
    camera.viewers.add(queue)
    const leaveStream = this.#stream(cameraId, camera, format).join(queue)
    const leave = () => {
      leaveStream()
      camera.viewers.delete(queue)
      this.#viewers[format]--
    }
    return { queue, leave }
  }

  #camera(cameraId: number): Camera {
    let camera = this.#cameras.get(cameraId)
    if (!camera) {
      camera = {
        streams: new Map(),
        viewers: new Set(),
        images: undefined,
        imageUsers: 0,
        leaveKeyFrames: undefined,
        hls: undefined,
        nextDiscontinuitySequence: 0,
      }
      this.#cameras.set(cameraId, camera)
    }
    return camera
  }

  #stream(cameraId: number, camera: Camera, format: LiveFormat): SharedStream {
    let stream = camera.streams.get(format)
    if (!stream) {
      const { subscriber, clock, lingerMs, maxRetainedBytes } = this.#options
      stream = new SharedStream({
        subscribe: (onChunk, minIntervalMs) => subscriber.subscribe(cameraId, format, onChunk, { minIntervalMs }),
        clock,
        // HLS itself outlives its players by longer. A source that is opened anew has more to begin with than the
        // newest group of pictures.
        lingerMs: format === 'hls' ? 0 : lingerMs,
        maxRetainedBytes,
        budget: this.#retainedBudget,
      })
      camera.streams.set(format, stream)
    }
    return stream
  }

  #useKeyFrames(cameraId: number, intervalMs: number): { images: KeyFrameImages; release: () => void } {
    const { decoder, clock } = this.#options
    const camera = this.#camera(cameraId)
    const stream = this.#stream(cameraId, camera, 'keyframes')
    // Four times as many as this viewer takes, so that the newest is fresh when its turn comes.
    stream.lowerInterval(Math.min(maxKeyFrameIntervalMs, intervalMs / 4))
    camera.images ??= new KeyFrameImages(cameraId, decoder, clock)
    const { images } = camera
    if (camera.imageUsers++ === 0) {
      camera.leaveKeyFrames = stream.join(images)
      // The camera may have left since the last user did.
      if (stream.retainedBytes === 0) images.forget()
    }
    const release = () => {
      if (--camera.imageUsers === 0) camera.leaveKeyFrames?.()
    }
    return { images, release }
  }
}

// The newest key frame of one camera and the JPEGs made from it. All viewers of a frame share one decode and one JPEG
// per size. An account that requests many sizes gets a few of them with each decode, so it does not delay others.

import type { Clock } from '../base/clock.ts'
import { Notifier } from '../base/notifier.ts'
import type { StreamFormat } from '../media/frame.ts'
import { fitImage, type ImageLimits, type ImageSize } from '../media/image-size.ts'
import type { LiveChunk } from './live-chunk.ts'
import type { ChunkSink } from './shared-stream.ts'

/** The part of the image decoder that live streams need. */
export type KeyFrameDecoder = {
  /** One JPEG for each size, in order. Rejects with AppError 'corrupt' or 'unavailable'. */
  decode(request: {
    codec: StreamFormat['video']['codec']
    config: Uint8Array
    data: Uint8Array
    sizes: ImageLimits[]
    /** The camera. Cameras take turns. */
    source: number
    /** The accounts that requested one of the images. Accounts take turns as well. May grow while the request waits. */
    viewers: ReadonlySet<number>
  }): Promise<Uint8Array[]>
}

export type KeyFrame = {
  readonly format: StreamFormat
  readonly data: Uint8Array
  readonly wallMs: number
}

/** A viewer who will request more images. Its size is made together with those of other viewers. */
export type ImageViewer = {
  readonly limits: ImageLimits
  /** The account. Undefined for the server itself. */
  readonly account: number | undefined
  /** When the next image may be sent, on the monotonic clock. */
  dueMs: number
}

type PendingImage = {
  readonly size: ImageSize
  readonly jpeg: PromiseWithResolvers<Uint8Array>
  /** The accounts that requested this image or, once decoding is queued, any image of the same decode. */
  viewers: Set<number>
}

/** Images of one frame that were requested in one turn of the event loop. */
type Batch = { readonly frame: KeyFrame; readonly images: PendingImage[] }

/**
 * The maximum number of sizes per decode, so that a request never waits for more than these. Further sizes are made in
 * the next decode.
 */
const maxSizesPerDecode = 4
/** The maximum number of sizes that are made before they are requested. */
const maxSizesAhead = 16

export class KeyFrameImages implements ChunkSink {
  readonly viewers = new Set<ImageViewer>()
  /** Notifies when a key frame arrives and when the camera goes offline. */
  readonly changed = new Notifier()
  readonly #cameraId: number
  readonly #decoder: KeyFrameDecoder
  readonly #clock: Clock
  #newest: KeyFrame | undefined
  /** Images of `#newest` by size. */
  #images = new Map<string, PendingImage>()
  #batch: Batch | undefined
  #keyIntervalMs = 0
  #isClosed = false

  constructor(cameraId: number, decoder: KeyFrameDecoder, clock: Clock) {
    this.#cameraId = cameraId
    this.#decoder = decoder
    this.#clock = clock
  }

  /** Undefined while the camera is offline. */
  get newest(): KeyFrame | undefined {
    return this.#newest
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  push(chunk: LiveChunk): void {
    if (chunk.kind === 'end') this.#replace(undefined)
    else if (chunk.kind === 'media' && chunk.format) {
      const before = this.#newest
      // The same frame arrives again after the subscription was renewed.
      if (before?.wallMs === chunk.wallMs && before.data.length === chunk.data.length) return
      this.#keyIntervalMs = before ? chunk.wallMs - before.wallMs : 0
      this.#replace({ format: chunk.format, data: chunk.data, wallMs: chunk.wallMs })
    }
  }

  /** Discards the newest key frame, which is out of date. */
  forget(): void {
    this.#replace(undefined)
  }

  /** Ends all waits, because the camera was removed. */
  close(): void {
    this.#isClosed = true
    this.#replace(undefined)
  }

  /**
   * Returns a JPEG of this frame within the limits for this account. Rejects as the decoder does; a later call retries.
   */
  getImage(frame: KeyFrame, { limits, account }: Omit<ImageViewer, 'dueMs'>): Promise<Uint8Array> {
    const size = fitImage(frame.format.video, limits)
    if (isAsSent(frame, size)) return Promise.resolve(frame.data)
    // An older frame is decoded for this caller alone.
    if (frame !== this.#newest) return this.#decodeOne(frame, size, account)
    const known = this.#images.get(keyOf(size))
    if (known) {
      if (account !== undefined) known.viewers.add(account)
      return known.jpeg.promise
    }
    if (this.#batch?.frame !== frame) {
      const batch: Batch = { frame, images: [] }
      this.#batch = batch
      queueMicrotask(() => this.#decodeBatch(batch))
    }
    return this.#want(this.#batch, size, account).jpeg.promise
  }

  #want(batch: Batch, size: ImageSize, account: number | undefined): PendingImage {
    const viewers = new Set(account === undefined ? [] : [account])
    const image: PendingImage = { size, jpeg: Promise.withResolvers(), viewers }
    image.jpeg.promise.catch(() => {}) // made ahead for a viewer that may never ask
    this.#images.set(keyOf(size), image)
    batch.images.push(image)
    return image
  }

  #decodeBatch(batch: Batch): void {
    if (this.#batch === batch) this.#batch = undefined
    if (batch.frame === this.#newest) this.#requestAhead(batch)
    const known = this.#images
    const inTurn = takeTurns(batch.images)
    for (let i = 0; i < inTurn.length; i += maxSizesPerDecode) {
      const images = inTurn.slice(i, i + maxSizesPerDecode)
      const viewers = new Set(images.flatMap((image) => [...image.viewers]))
      for (const image of images) image.viewers = viewers
      const sizes = images.map((image) => image.size)
      this.#decode(batch.frame, sizes, viewers).then(
        (jpegs) => {
          for (const [index, image] of images.entries()) image.jpeg.resolve(jpegs[index]!)
        },
        (error: unknown) => {
          for (const image of images) {
            known.delete(keyOf(image.size))
            image.jpeg.reject(error)
          }
        },
      )
    }
  }

  /** Adds the sizes of viewers who will soon request this frame, so that it is not decoded again for them. */
  #requestAhead(batch: Batch): void {
    const untilMs = this.#clock.monotonicMs() + this.#keyIntervalMs
    for (const viewer of this.viewers) {
      if (viewer.dueMs > untilMs || batch.images.length >= maxSizesAhead) continue
      const size = fitImage(batch.frame.format.video, viewer.limits)
      if (!isAsSent(batch.frame, size) && !this.#images.has(keyOf(size))) this.#want(batch, size, viewer.account)
    }
  }

  async #decodeOne(frame: KeyFrame, size: ImageSize, account: number | undefined): Promise<Uint8Array> {
    const [jpeg] = await this.#decode(frame, [size], new Set(account === undefined ? [] : [account]))
    return jpeg!
  }

  #decode(frame: KeyFrame, sizes: readonly ImageSize[], viewers: ReadonlySet<number>): Promise<Uint8Array[]> {
    const { codec, config, width, height } = frame.format.video
    return this.#decoder.decode({
      source: this.#cameraId,
      viewers,
      codec,
      config,
      data: frame.data,
      // Without a limit, images with non-square pixels keep their largest size.
      sizes: sizes.map((size) =>
        size.width === width && size.height === height ? {} : { maxWidth: size.width, maxHeight: size.height },
      ),
    })
  }

  #replace(frame: KeyFrame | undefined): void {
    this.#newest = frame
    this.#images = new Map()
    this.changed.notify()
  }
}

/** Orders images by turns: the first of each account, then the second of each, and so on. */
function takeTurns(images: readonly PendingImage[]): PendingImage[] {
  const counts = new Map<number, number>()
  const turns = new Map<PendingImage, number>()
  for (const image of images) {
    const before = [...image.viewers].map((account) => counts.get(account) ?? 0)
    for (const account of image.viewers) counts.set(account, (counts.get(account) ?? 0) + 1)
    turns.set(image, before.length === 0 ? 0 : Math.min(...before))
  }
  return images.toSorted((one, other) => turns.get(one)! - turns.get(other)!)
}

/** A JPEG from an MJPEG camera that already fits is not decoded. */
function isAsSent({ format: { video } }: KeyFrame, size: ImageSize): boolean {
  return video.codec === 'mjpeg' && size.width === video.width && size.height === video.height
}

function keyOf({ width, height }: ImageSize): string {
  return `${width}x${height}`
}

// The newest key frame of one camera and the JPEGs made of it. All who want a picture of the same frame share one decode, and one
// JPEG for each distinct size.

import type { Clock } from '../base/clock.ts'
import type { StreamFormat } from '../media/frame.ts'
import { fitPicture, type PictureLimits, type PictureSize } from '../media/picture-size.ts'
import { Bell } from './bell.ts'
import type { LivePiece } from './live-piece.ts'
import type { PieceSink } from './shared-stream.ts'

/** What LiveStreams needs of the picture decoder. */
export type KeyFrameDecoder = {
  /** One JPEG for each size, in order. Rejects with AppError 'corrupt' or 'unavailable'. */
  decode(request: {
    codec: StreamFormat['video']['codec']
    config: Uint8Array
    data: Uint8Array
    sizes: PictureLimits[]
    /** The camera: those take turns. */
    source: number
  }): Promise<Uint8Array[]>
}

export type KeyFrame = {
  readonly format: StreamFormat
  readonly data: Uint8Array
  readonly wallMs: number
}

/** Someone who will want pictures again: its size is made together with the others'. */
export type PictureViewer = {
  readonly limits: PictureLimits
  /** When the next picture may be sent, on the monotonic clock. */
  dueMs: number
}

type Picture = { readonly size: PictureSize; readonly jpeg: PromiseWithResolvers<Uint8Array> }

/** Pictures of one frame that were asked for in one turn of the event loop. */
type Batch = { readonly frame: KeyFrame; readonly pictures: Picture[] }

/** The decoder takes no more at once. */
const maxSizesPerDecode = 64

export class KeyPictures implements PieceSink {
  readonly viewers = new Set<PictureViewer>()
  /** Rings when a key frame came and when the camera went away. */
  readonly changed = new Bell()
  readonly #cameraId: number
  readonly #decoder: KeyFrameDecoder
  readonly #clock: Clock
  #newest: KeyFrame | undefined
  /** Pictures of `#newest`, by size. */
  #pictures = new Map<string, Picture>()
  #batch: Batch | undefined
  #keyIntervalMs = 0
  #isClosed = false

  constructor(cameraId: number, decoder: KeyFrameDecoder, clock: Clock) {
    this.#cameraId = cameraId
    this.#decoder = decoder
    this.#clock = clock
  }

  /** Undefined while the camera is away. */
  get newest(): KeyFrame | undefined {
    return this.#newest
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  push(piece: LivePiece): void {
    if (piece.kind === 'end') this.#replace(undefined)
    else if (piece.kind === 'media' && piece.format) {
      const before = this.#newest
      // Given again after the subscription was renewed.
      if (before?.wallMs === piece.wallMs && before.data.length === piece.data.length) return
      this.#keyIntervalMs = before ? piece.wallMs - before.wallMs : 0
      this.#replace({ format: piece.format, data: piece.data, wallMs: piece.wallMs })
    }
  }

  /** What is known of the camera is old. */
  forget(): void {
    this.#replace(undefined)
  }

  /** The camera is gone for good: everyone who waits ends. */
  close(): void {
    this.#isClosed = true
    this.#replace(undefined)
  }

  /** A JPEG of this frame within the limits. Rejects as the decoder does; a later call tries again. */
  picture(frame: KeyFrame, limits: PictureLimits): Promise<Uint8Array> {
    const size = fitPicture(frame.format.video, limits)
    if (isAsSent(frame, size)) return Promise.resolve(frame.data)
    // A frame that is no longer the newest shares nothing: whoever wants it is alone.
    if (frame !== this.#newest) return this.#decodeOne(frame, size)
    const known = this.#pictures.get(keyOf(size))
    if (known) return known.jpeg.promise
    if (this.#batch?.frame !== frame) {
      const batch: Batch = { frame, pictures: [] }
      this.#batch = batch
      queueMicrotask(() => this.#decodeBatch(batch))
    }
    return this.#want(this.#batch, size).jpeg.promise
  }

  #want(batch: Batch, size: PictureSize): Picture {
    const picture: Picture = { size, jpeg: Promise.withResolvers() }
    picture.jpeg.promise.catch(() => {}) // made ahead for a viewer that may never ask
    this.#pictures.set(keyOf(size), picture)
    batch.pictures.push(picture)
    return picture
  }

  #decodeBatch(batch: Batch): void {
    if (this.#batch === batch) this.#batch = undefined
    if (batch.frame === this.#newest) this.#wantAhead(batch)
    const known = this.#pictures
    for (let i = 0; i < batch.pictures.length; i += maxSizesPerDecode) {
      const pictures = batch.pictures.slice(i, i + maxSizesPerDecode)
      const sizes = pictures.map((picture) => picture.size)
      this.#decode(batch.frame, sizes).then(
        (jpegs) => {
          for (const [index, picture] of pictures.entries()) picture.jpeg.resolve(jpegs[index]!)
        },
        (error: unknown) => {
          for (const picture of pictures) {
            known.delete(keyOf(picture.size))
            picture.jpeg.reject(error)
          }
        },
      )
    }
  }

  /** The sizes of viewers who will ask for this same frame a little later, so that it is not decoded again for them. */
  #wantAhead(batch: Batch): void {
    const untilMs = this.#clock.monotonicMs() + this.#keyIntervalMs
    for (const viewer of this.viewers) {
      if (viewer.dueMs > untilMs || batch.pictures.length >= maxSizesPerDecode) continue
      const size = fitPicture(batch.frame.format.video, viewer.limits)
      if (!isAsSent(batch.frame, size) && !this.#pictures.has(keyOf(size))) this.#want(batch, size)
    }
  }

  async #decodeOne(frame: KeyFrame, size: PictureSize): Promise<Uint8Array> {
    const [jpeg] = await this.#decode(frame, [size])
    return jpeg!
  }

  #decode(frame: KeyFrame, sizes: readonly PictureSize[]): Promise<Uint8Array[]> {
    const { codec, config, width, height } = frame.format.video
    return this.#decoder.decode({
      source: this.#cameraId,
      codec,
      config,
      data: frame.data,
      // No limit where none is needed: pixels that are not square are then shown as large as they can be.
      sizes: sizes.map((size) =>
        size.width === width && size.height === height ? {} : { maxWidth: size.width, maxHeight: size.height },
      ),
    })
  }

  #replace(frame: KeyFrame | undefined): void {
    this.#newest = frame
    this.#pictures = new Map()
    this.changed.ring()
  }
}

/** The picture of an mjpeg camera needs no decoder where it fits. */
function isAsSent({ format: { video } }: KeyFrame, size: PictureSize): boolean {
  return video.codec === 'mjpeg' && size.width === video.width && size.height === video.height
}

function keyOf({ width, height }: PictureSize): string {
  return `${width}x${height}`
}

// A scene and the encoder for it, in one size: from a moment and a frame number to a coded picture.

import { writeFrameCounter } from '../frame-counter.ts'
import { paintCaption } from '../scene/caption.ts'
import type { Picture } from '../scene/picture.ts'
import { createScene, type SceneName, ScenePicture } from '../scene/scene.ts'
import { type EncodedPicture, VideoEncoder, type VideoEncoding } from './video-encoder.ts'

export type LensOptions = VideoEncoding & {
  readonly scene: SceneName
  readonly title: string
  /** Called when the picture is painted, before it is encoded. */
  readonly retouch?: (picture: Picture) => void
}

export class Lens implements Disposable {
  readonly width: number
  readonly height: number
  readonly #encoder: VideoEncoder
  readonly #scene: ScenePicture
  readonly #options: LensOptions
  #parameterSets: readonly Uint8Array[] = []

  private constructor(encoder: VideoEncoder, options: LensOptions) {
    this.width = options.width
    this.height = options.height
    this.#encoder = encoder
    this.#scene = new ScenePicture(createScene(options.scene), options.width, options.height)
    this.#options = options
  }

  /** Encodes a first picture, so that the parameter sets are known. */
  static async open(options: LensOptions): Promise<Lens> {
    const lens = new Lens(await VideoEncoder.open(options), options)
    lens.capture({ unixMs: 0, frameNumber: 0 }, true)
    return lens
  }

  /** SPS and PPS. */
  get parameterSets(): readonly Uint8Array[] {
    return this.#parameterSets
  }

  /** The picture of this moment, its frame counter in front of its slice. */
  capture(moment: { unixMs: number; frameNumber: number }, forceKey: boolean): EncodedPicture {
    this.#scene.paint(moment.unixMs)
    this.#options.retouch?.(this.#scene.picture)
    paintCaption(this.#scene.painter, { name: this.#options.title, ...moment })
    const { isKey, nals } = this.#encoder.encode(this.#scene.picture, { forceKey })
    const isParameterSet = (nal: Uint8Array) => (nal[0]! & 0x1f) >= 7
    const parameterSets = nals.filter(isParameterSet)
    if (isKey) this.#parameterSets = parameterSets
    const slices = nals.filter((nal) => !isParameterSet(nal))
    return { isKey, nals: [...parameterSets, writeFrameCounter(moment), ...slices] }
  }

  [Symbol.dispose](): void {
    this.#encoder[Symbol.dispose]()
  }
}

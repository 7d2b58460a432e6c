// A scene and the encoder for it, in one size: from a moment and a frame number to a coded picture.

import type { VideoCodec } from '../../../server/media/frame.ts'
import { nalType, nalTypeOf } from '../../../server/media/h264/nal-unit.ts'
import { hevcNalType, hevcNalTypeOf } from '../../../server/media/h265/nal-unit.ts'
import { type FrameCounter, writeFrameCounter } from '../frame-counter.ts'
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

  /** Encodes a first picture where it comes out at once, so that the parameter sets are known. */
  static async open(options: LensOptions): Promise<Lens> {
    const lens = new Lens(await VideoEncoder.open(options), options)
    if (options.bFrames === 0) lens.capture({ unixMs: 0, frameNumber: 0 }, true)
    return lens
  }

  /** Those of the last key frame: VPS, SPS and PPS; none of JPEG. */
  get parameterSets(): readonly Uint8Array[] {
    return this.#parameterSets
  }

  /** Takes the picture of this moment. What comes out of the encoder, a frame counter in front of its slice, may be an earlier one. */
  capture(moment: FrameCounter, forceKey: boolean): EncodedPicture | undefined {
    this.#scene.paint(moment.unixMs)
    this.#options.retouch?.(this.#scene.picture)
    paintCaption(this.#scene.painter, { name: this.#options.title, ...moment })
    const picture = this.#encoder.encode(this.#scene.picture, { forceKey })
    return picture && this.#count(picture, moment)
  }

  /** The pictures still in the encoder. */
  finish(): EncodedPicture[] {
    return this.#encoder.finish().map((picture) => this.#count(picture, { frameNumber: 0, unixMs: 0 }))
  }

  [Symbol.dispose](): void {
    this.#encoder[Symbol.dispose]()
  }

  #count(picture: EncodedPicture, counter: FrameCounter): EncodedPicture {
    const { codec } = this.#options
    if (codec === 'mjpeg') return picture
    const parameterSets = picture.units.filter((nal) => isParameterSet(codec, nal))
    if (picture.isKey) this.#parameterSets = parameterSets
    const slices = picture.units.filter((nal) => !isParameterSet(codec, nal))
    return { ...picture, units: [...parameterSets, writeFrameCounter(counter, codec), ...slices] }
  }
}

function isParameterSet(codec: VideoCodec, nal: Uint8Array): boolean {
  return codec === 'h265' ? hevcNalTypeOf(nal[0]!) >= hevcNalType.vps : nalTypeOf(nal[0]!) >= nalType.sps
}

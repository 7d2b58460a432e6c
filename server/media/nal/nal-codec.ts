// What tells H.264 and H.265 apart for a depacketizer: the shape of a NAL unit's header, and what each type of unit is there for.

import type { PictureOrder, VideoFormat } from '../frame.ts'

/** What a NAL unit means for its access unit. Numbers, because one is looked up for every packet. */
export const nalRole = {
  /** Must not stand in a packet by itself. */
  bad: 0,
  /** Says nothing that a file or a decoder needs. */
  dropped: 1,
  /** Goes with its access unit. */
  kept: 2,
  /** Supplemental information (SEI) before a picture; goes with its access unit. */
  message: 3,
  parameterSet: 4,
  slice: 5,
  /** Of a picture where a decoder can start. */
  keySlice: 6,
  /** Of such a picture in a stream that was spliced there: leading pictures after it can't be decoded (H.265 BLA). */
  brokenKeySlice: 7,
  /** Of a picture that is shown before the key frame it follows, and that refers to pictures before it (H.265 RASL). */
  leadingSlice: 8,
} as const

export type NalCodec = {
  readonly headerBytes: 1 | 2
  /** The type stands in the first byte: shifted down by so much, then masked. */
  readonly typeShift: 0 | 1
  readonly typeMask: number
  /** RTP: several units in a packet, and a part of one. */
  readonly aggregateType: number
  readonly fragmentType: number
  /** The `nalRole` of each type. */
  readonly roles: Uint8Array
  createSets(): ParameterSets
}

/** The parameter sets of a stream as they are now: from the SDP or in the stream, changing in its middle. */
export type ParameterSets = {
  /** Takes the parameter set `bytes[start, end)`, copied when it is new. @throws AppError 'corrupt' when its id can't be read */
  take(bytes: Uint8Array, start: number, end: number): void
  /** True once every kind is known that decoding needs. */
  readonly isComplete: boolean
  /** The format if it changed since the last call, else undefined. @throws AppError 'corrupt' when a set can't be read */
  takeChange(): SetsFormat | undefined
  /** H.264: the frame number of this access unit, its NAL units behind lengths, is 0. False where it can't be told. */
  isNumberedZero?(data: Uint8Array): boolean
}

export type SetsFormat = { readonly format: VideoFormat; readonly order: PictureOrder }

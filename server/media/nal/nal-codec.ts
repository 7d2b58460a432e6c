// The differences between H.264 and H.265 for a depacketizer: the layout of the NAL unit header, and the role of each
// NAL unit type.

import type { PictureOrder, VideoFormat } from '../frame.ts'

/** The role of a NAL unit in its access unit. Roles are numbers because one is looked up for every packet. */
export const nalRole = {
  /** Must not be the only unit in a packet. */
  bad: 0,
  /** Of a type that the standard leaves open, or of another layer. */
  foreign: 1,
  /** Not needed by files and decoders. */
  dropped: 2,
  /** Part of its access unit. */
  kept: 3,
  /** Supplemental enhancement information (SEI) before a picture; part of its access unit. */
  message: 4,
  parameterSet: 5,
  slice: 6,
  /** Slice of a picture where a decoder can start. */
  keySlice: 7,
  /** Slice of such a picture where the stream was spliced: leading pictures after it cannot be decoded (H.265 BLA). */
  brokenKeySlice: 8,
  /**
   * Slice of a picture that is shown before the key frame it follows and that refers to earlier pictures (H.265 RASL).
   */
  leadingSlice: 9,
} as const

export type NalCodec = {
  readonly headerBytes: 1 | 2
  /** The type is in the first byte, shifted left by this many bits and then masked. */
  readonly typeShift: 0 | 1
  readonly typeMask: number
  /** RTP packet types: several units in a packet, and a part of one unit. */
  readonly aggregateType: number
  readonly fragmentType: number
  /** The `nalRole` of each type. */
  readonly roles: Uint8Array
  createSets(): ParameterSets
}

/** The current parameter sets of a stream. They come from the SDP or the stream itself and may change at any time. */
export type ParameterSets = {
  /**
   * Stores the parameter set `bytes[start, end)`, as a copy when it is new. @throws AppError 'corrupt' when its id
   * cannot be read
   */
  take(bytes: Uint8Array, start: number, end: number): void
  /** True once all sets are present that decoding needs. */
  readonly isComplete: boolean
  /**
   * Returns the format if it changed since the last call, otherwise undefined. @throws AppError 'corrupt' when a set
   * cannot be parsed
   */
  takeChange(): ParameterSetsFormat | undefined
  /**
   * H.264: returns whether the frame number of this access unit (NAL units with lengths) is 0. False when it cannot be
   * determined.
   */
  hasZeroFrameNumber?(data: Uint8Array): boolean
}

export type ParameterSetsFormat = { readonly format: VideoFormat; readonly order: PictureOrder }

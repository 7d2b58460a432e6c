// What every video depacketizer is to its caller, whatever the codec: packets in, whole pictures out.

import type { Frame, PictureOrder, VideoFormat } from './frame.ts'
import type { FrameMemory } from './frame-memory.ts'

/** What is unusual about a picture: as a place to start, after one, or because something is missing. */
export type FrameAccess = Pick<Frame, 'recovery' | 'isLeading' | 'isDamaged'>

export type VideoSink = {
  /** The format is known or has changed; a picture that is a key frame follows at once. */
  onFormat(format: VideoFormat, order: PictureOrder): void
  /** `data` and `memory` as in `Frame`, the memory held for the sink, which releases it; `timestamp` as pushed. */
  onFrame(data: Uint8Array, timestamp: number, isKey: boolean, memory?: FrameMemory, access?: FrameAccess): void
}

export type VideoCounters = {
  /** Pictures that ended, handed on or not. */
  pictures: number
  /** Pictures not handed on: damaged, or waiting for a key frame after damage. */
  droppedFrames: number
  /** Times that something was found to be missing or broken. */
  losses: number
  /** Payloads that break their format, or use what is not supported of it. */
  badPayloads: number
}

export type VideoDepacketizer = {
  readonly counters: VideoCounters
  /** True when only a key frame is missing to begin. */
  readonly hasParameterSets: boolean
  /** A parameter set from the session description. @throws AppError 'corrupt' */
  takeParameterSet(nal: Uint8Array): void
  /** Packets are missing before the next payload. */
  markLoss(): void
  /**
   * The payload `bytes[start, end)` of one packet; `timestamp` is equal in packets of one picture and may be in any unit.
   * Never throws on what a camera sends: what is broken is counted and costs its group of pictures.
   */
  push(bytes: Uint8Array, start: number, end: number, timestamp: number, isMarked: boolean): void
}

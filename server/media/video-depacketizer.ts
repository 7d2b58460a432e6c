// The interface of all video depacketizers: packets in, complete frames out.

import type { Frame, PictureOrder, VideoFormat } from './frame.ts'
import type { FrameMemory } from './frame-memory.ts'

/** Unusual properties of a frame: a special random access point, a leading picture, or damage. */
export type FrameAccess = Pick<Frame, 'recovery' | 'isLeading' | 'isDamaged'>

export type VideoSink = {
  /** Called when the format becomes known or changes; a key frame follows immediately. */
  onFormat(format: VideoFormat, order: PictureOrder): void
  /**
   * `data` and `memory` are as in `Frame`. The memory is held for the sink, which must release it. `timestamp` is the
   * pushed one.
   */
  onFrame(data: Uint8Array, timestamp: number, isKey: boolean, memory?: FrameMemory, access?: FrameAccess): void
}

export type VideoCounters = {
  /** Frames that ended, delivered or not. */
  frames: number
  /** Frames that were not delivered because they were damaged or a key frame was missing after damage. */
  droppedFrames: number
  /** Number of times that data was missing or broken. */
  losses: number
  /** Payloads that violate their format or use unsupported features. */
  badPayloads: number
}

export type VideoDepacketizer = {
  readonly counters: VideoCounters
  /** True when only a key frame is missing. */
  readonly hasParameterSets: boolean
  /** Takes a parameter set from the session description. @throws AppError 'corrupt' */
  takeParameterSet(nal: Uint8Array): void
  /** Reports that packets are missing before the next payload. */
  markLoss(): void
  /** Takes the header extension `bytes[start, end)` of a packet, before its payload. `profile`: the type of its content. */
  takeExtension?(profile: number, bytes: Uint8Array, start: number, end: number): void
  /** Ends the current frame if a packet of it was marked as the last. */
  endMarked?(): void
  /**
   * Takes the payload `bytes[start, end)` of one packet. `timestamp` is equal in packets of one frame, in any unit.
   * Never throws on bytes that a camera sends: invalid payloads are counted and cost their group of pictures.
   */
  push(bytes: Uint8Array, start: number, end: number, timestamp: number, isMarked: boolean): void
}

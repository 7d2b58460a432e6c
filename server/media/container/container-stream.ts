// What somebody who takes containers apart (server/decoder/container) is handed and gives back: bytes of one stream in, its tracks and their
// packets out. Types only.

import type { ContainerFormat } from './find-container.ts'

/** Codecs by the names FFmpeg has for them: `h264`, `hevc`, `aac`, `opus`, `pcm_mulaw`. */
export type ContainerVideo = {
  readonly codec: string
  /** What the container tells of it: an avcC or hvcC record, NAL units behind start codes, or nothing. */
  readonly config: Uint8Array
}

export type ContainerAudio = {
  readonly codec: string
  /** aac: AudioSpecificConfig; else empty. */
  readonly config: Uint8Array
  /** 0 where the container does not tell. */
  readonly sampleRate: number
  readonly channels: number
}

export type ContainerTracks = {
  readonly video: ContainerVideo
  readonly audio: ContainerAudio | undefined
}

export type ContainerPacket = {
  readonly kind: 'video' | 'audio'
  /**
   * When it is shown: ticks on one axis for both tracks, continuous where the container's own count wraps. Undefined where the
   * container does not tell.
   */
  readonly pts90k: number | undefined
  /** h264, hevc: an access unit as the container holds it; aac: a raw block without ADTS header; else as it is. Shared with the message. */
  readonly data: Uint8Array
}

/** Why a stream goes no further. */
export type ContainerEnd =
  | { readonly kind: 'ended' | 'unreadable' | 'no_video' | 'too_much' | 'changed' }
  /** There are as many streams as can be read at once. */
  | { readonly kind: 'busy'; readonly limit: number }
  /** Whoever reads it died. */
  | { readonly kind: 'lost'; readonly reason: string }

export type ContainerSink = {
  /** Once, before the first packet. */
  onTracks(tracks: ContainerTracks): void
  onPacket(packet: ContainerPacket): void
  /** Once, at last; not after it was closed. */
  onEnd(end: ContainerEnd): void
  /** What was pushed has been taken: more may come. */
  onDrain(): void
}

export type ContainerInput = AsyncDisposable & {
  /** Bytes of the stream, which nobody else will change. False: hold on until `onDrain`. */
  push(bytes: Uint8Array): boolean
  /** No byte comes any more; what was pushed is still given. */
  end(): void
}

export type ContainerReader = {
  open(format: ContainerFormat, sink: ContainerSink): ContainerInput
}

// The interface of a container reader (server/decoder/container): it takes the bytes of one stream and returns the
// tracks and their packets. This file has types only.

import type { ContainerFormat } from './find-container.ts'

/** Codecs have FFmpeg's names: `h264`, `hevc`, `aac`, `opus`, `pcm_mulaw`. */
export type ContainerVideo = {
  readonly codec: string
  /** Codec configuration from the container: an avcC or hvcC record, NAL units with start codes, or empty. */
  readonly config: Uint8Array
}

export type ContainerAudio = {
  readonly codec: string
  /** AudioSpecificConfig for aac, otherwise empty. */
  readonly config: Uint8Array
  /** 0 when the container does not state it. */
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
   * Presentation time in ticks. Both tracks share one axis, which stays continuous when the timestamps of the container
   * wrap. Undefined when the container has no timestamps.
   */
  readonly pts90k: number | undefined
  /**
   * For h264 and hevc, an access unit as the container stores it. For aac, a raw block without ADTS header. Other
   * codecs are unchanged. The bytes share memory with the message they came in.
   */
  readonly data: Uint8Array
}

/** Why reading a stream ended. */
export type ContainerEnd =
  | { readonly kind: 'ended' | 'unreadable' | 'no_video' | 'too_much' | 'changed' }
  /** The maximum number of streams is already being read. */
  | { readonly kind: 'busy'; readonly limit: number }
  /** The reader process died. */
  | { readonly kind: 'lost'; readonly reason: string }

export type ContainerSink = {
  /** Called once, before the first packet. */
  onTracks(tracks: ContainerTracks): void
  onPacket(packet: ContainerPacket): void
  /** Called once, at the end. Not called after the input was closed. */
  onEnd(end: ContainerEnd): void
  /** Called when the pushed bytes have been consumed and more can be pushed. */
  onDrain(): void
}

export type ContainerInput = AsyncDisposable & {
  /**
   * Pushes bytes of the stream, which must not be modified afterwards. Returns false when the caller must wait for
   * `onDrain`.
   */
  push(bytes: Uint8Array): boolean
  /** Ends the input. Bytes that were pushed before are still processed. */
  end(): void
}

export type ContainerReader = {
  open(format: ContainerFormat, sink: ContainerSink): ContainerInput
}

// What a stream of the fake camera is to be: its picture, its encoding, and whether it is made anew or a clip in a loop.

import type { VideoCodec } from '../../../server/media/frame.ts'
import type { AudioKind } from '../encode/microphone.ts'
import type { SceneName } from '../scene/scene.ts'

export type StreamOptions = {
  /** Path of its URL, for instance `yard` or `load/0`. */
  readonly name: string
  readonly scene?: SceneName
  /** H.264 unless given. */
  readonly codec?: VideoCodec
  /** Burned into the picture; the name unless given. */
  readonly title?: string
  /** Pixels; even. */
  readonly width?: number
  readonly height?: number
  readonly framesPerSecond?: number
  /** Frames from one key frame to the next. */
  readonly gopFrames?: number
  /** Pictures between two others that are sent after both. Loops only. */
  readonly bFrames?: number
  /** At most (live) or constantly (loop) this many. */
  readonly bitsPerSecond?: number
  /** A beep each second. Live streams only. */
  readonly hasAudio?: boolean
  /**
   * The picture shows the true time even when the camera's clock has jumped, and a camera that is late goes on with the
   * present. Live streams only.
   */
  readonly stampsTrueTime?: boolean
  /** A client is sent whatever picture is next, as many cameras do, not a key frame made for it. Live streams only. */
  readonly joinsAnywhere?: boolean
  /**
   * A client is sent all that was sent since the last key frame, at once, as many servers and some cameras do; the camera
   * films also while nobody plays. Live streams only.
   */
  readonly keepsGroup?: boolean
  /** How the audio is coded: AAC unless given. */
  readonly audio?: AudioKind
  /**
   * Length of the clip to serve in a loop, encoded once for all streams alike. Undefined: drawn and encoded as it is
   * sent.
   */
  readonly loopSeconds?: number
}

export type ResolvedStream = Required<Omit<StreamOptions, 'loopSeconds'>> & Pick<StreamOptions, 'loopSeconds'>

export function resolveStream(options: StreamOptions): ResolvedStream {
  const isLoop = options.loopSeconds !== undefined
  const framesPerSecond = options.framesPerSecond ?? (isLoop ? 25 : 15)
  return {
    scene: options.name.startsWith('door') ? 'door' : 'yard',
    title: options.name,
    codec: 'h264',
    bFrames: 0,
    width: isLoop ? 1280 : 960,
    height: isLoop ? 720 : 540,
    framesPerSecond,
    gopFrames: framesPerSecond * 2,
    bitsPerSecond: isLoop ? 2_000_000 : 1_500_000,
    hasAudio: options.audio !== undefined,
    stampsTrueTime: false,
    joinsAnywhere: false,
    keepsGroup: false,
    audio: 'aac',
    ...options,
  }
}

/**
 * Streams `load/0`, `load/1`, … for benches: the same 10 s of 1280×720 at 25 frames/s and 2 Mbit/s, each at its own
 * place.
 */
export function createLoadStreams(count: number, options: Omit<StreamOptions, 'name'> = {}): StreamOptions[] {
  return Array.from({ length: count }, (_, index) => ({
    loopSeconds: 10,
    title: 'load',
    ...options,
    name: `load/${index}`,
  }))
}

// Writes one MP4 fragment per frame, so that viewers see each frame as soon as it arrives. ISO/IEC 14496-12 8.8.
//
// The duration of the newest frame is not known yet, so it is estimated. Decode times are exact, so the error does not
// accumulate. Open groups of H.264 are closed, because a viewer may begin at each of them
// (see `GroupCloser`).

import type { Frame, StreamFormat } from '../media/frame.ts'
import { GroupCloser } from '../media/h264/group-closer.ts'
import { AudioGrid } from '../media/mp4/audio-grid.ts'
import { writeFragmentHead } from '../media/mp4/media-fragment.ts'
import { scaleTicks } from '../media/mp4/timescale.ts'
import type { LiveChunk } from './live-chunk.ts'
import type { LiveMuxer } from './live-muxer.ts'
import { origin90k, VideoTimes } from './video-times.ts'

/** In the timescale of the frame's track. */
type Timing = { readonly time: number; readonly duration: number }

export class FrameFragmentMuxer implements LiveMuxer {
  readonly init: Uint8Array
  readonly #times = new VideoTimes()
  readonly #audio: AudioGrid | undefined
  readonly #audioOrigin: number
  readonly #groups: GroupCloser | undefined
  #sequence = 0

  constructor(init: Uint8Array, { video, audio }: StreamFormat) {
    this.init = init
    this.#groups = video.codec === 'h264' ? new GroupCloser(video.config) : undefined
    this.#audio = audio && new AudioGrid(audio)
    this.#audioOrigin = audio ? scaleTicks(origin90k, audio.sampleRate) : 0
  }

  push(taken: Frame): LiveChunk[] {
    const isVideo = taken.kind === 'video'
    const frame = isVideo && this.#groups ? this.#groups.close(taken) : taken
    const timing = frame && (isVideo ? this.#timeVideo(frame) : this.#timeAudio(frame))
    if (!timing) return []
    const { time: baseDecodeTime, duration } = timing
    const compositionOffset = isVideo ? frame.pts90k - frame.dts90k : 0
    const sample = {
      data: frame.data,
      duration,
      compositionOffset,
      isKey: frame.isKey,
      recovery: frame.recovery,
      isLeading: frame.isLeading,
    }
    const head = writeFragmentHead(++this.#sequence, [{ trackId: isVideo ? 1 : 2, baseDecodeTime, samples: [sample] }])
    const data = new Uint8Array(head.length + frame.data.length)
    data.set(head)
    data.set(frame.data, head.length)
    const { wallMs, isLeading } = frame
    if (!isVideo) return [{ kind: 'media', isKey: false, wallMs, durationMs: 0, data, isLeading }]
    return [
      { kind: 'media', isKey: frame.isKey, wallMs, durationMs: duration / 90, data, isLeading, compositionOffset },
    ]
  }

  flush(): LiveChunk[] {
    return []
  }

  #timeVideo({ dts90k }: Frame): Timing {
    const time = this.#times.next(dts90k)
    return { time, duration: this.#times.duration }
  }

  /** Undefined for a block that the track has no room for. */
  #timeAudio({ pts90k, data }: Frame): Timing | undefined {
    const block = this.#audio?.place(pts90k, data)
    return block && { time: Math.max(0, block.position + this.#audioOrigin), duration: block.samples }
  }
}

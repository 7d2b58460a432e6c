// Writes one MP4 fragment per frame, so that viewers see each frame as soon as it arrives. ISO/IEC 14496-12 8.8.
//
// The duration of the newest frame is not known yet, so it gets the duration of the previous one. Decode times are
// exact, so the error does not accumulate. Open groups of H.264 are closed, because a viewer may begin at each of them
// (see `GroupCloser`).

import type { Frame, StreamFormat } from '../media/frame.ts'
import { GroupCloser } from '../media/h264/group-closer.ts'
import { writeFragmentHead } from '../media/mp4/media-fragment.ts'
import type { LiveChunk } from './live-chunk.ts'
import type { LiveMuxer } from './live-muxer.ts'
import { createAudioTimes, createVideoTimes, type TrackTimes } from './track-times.ts'

export class FrameFragmentMuxer implements LiveMuxer {
  readonly init: Uint8Array
  readonly #video: TrackTimes = createVideoTimes()
  readonly #audio: TrackTimes | undefined
  readonly #groups: GroupCloser | undefined
  #sequence = 0

  constructor(init: Uint8Array, { video, audio }: StreamFormat) {
    this.init = init
    this.#groups = video.codec === 'h264' ? new GroupCloser(video.config) : undefined
    this.#audio = audio && createAudioTimes(audio)
  }

  push(taken: Frame): LiveChunk | undefined {
    const isVideo = taken.kind === 'video'
    const frame = isVideo && this.#groups ? this.#groups.close(taken) : taken
    if (!frame) return undefined
    const times = isVideo ? this.#video : this.#audio
    if (!times) return undefined
    const baseDecodeTime = times.next(frame.dts90k)
    const { duration } = times
    const sample = {
      data: frame.data,
      duration,
      compositionOffset: isVideo ? frame.pts90k - frame.dts90k : 0,
      isKey: frame.isKey,
      recovery: frame.recovery,
      isLeading: frame.isLeading,
    }
    const head = writeFragmentHead(++this.#sequence, [{ trackId: isVideo ? 1 : 2, baseDecodeTime, samples: [sample] }])
    const data = new Uint8Array(head.length + frame.data.length)
    data.set(head)
    data.set(frame.data, head.length)
    const durationMs = isVideo ? duration / 90 : 0
    const { wallMs, isLeading } = frame
    return { kind: 'media', isKey: isVideo && frame.isKey, wallMs, durationMs, data, isLeading }
  }

  flush(): LiveChunk[] {
    return []
  }
}

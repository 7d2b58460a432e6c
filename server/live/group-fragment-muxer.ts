// Writes one MP4 fragment per part of low-latency HLS with its audio, or per group of pictures while the camera has no
// parts (see part-rhythm.ts); a long group is then split every two seconds. ISO/IEC 14496-12 8.8.
//
// A player may begin at any group. Unlike H.265, H.264 has no leading pictures, and Chromium's decoder stops at a frame
// whose references are missing. H.264 frames that refer to the previous group are therefore left out, which makes the
// group independent.

import type { Frame, StreamFormat } from '../media/frame.ts'
import { GroupCloser } from '../media/h264/group-closer.ts'
import { type CutFragment, FragmentCutter } from '../media/mp4/fragment-cutter.ts'
import { type Sample, type TrackRun, writeFragmentHead } from '../media/mp4/media-fragment.ts'
import { scaleTicks } from '../media/mp4/timescale.ts'
import { withoutRefreshCount } from '../media/nal/key-frame.ts'
import type { SilentBlock } from '../media/telephony/silence.ts'
import type { LiveChunk } from './live-chunk.ts'
import type { LiveMuxer } from './live-muxer.ts'
import type { PartRhythm } from './part-rhythm.ts'
import { origin90k } from './video-times.ts'

const limits = {
  minFragment90k: 0,
  /** A longer group is sent in parts, which keeps memory use and the burst at its end small. */
  maxFragment90k: 2 * 90_000,
  /** What a camera of 32 Mbit/s sends in that time. Only huge frames or timestamps that hardly advance exceed it. */
  maxFragmentBytes: 8 * 1024 * 1024,
}

/** The last frame of a run lasts as long as the one before, at most this long. */
const longestFrame90k = 90_000

/** Further audio blocks are dropped while no video frame arrives, because only a video frame can end a part. */
const maxAudioBlocks = 1000

export class GroupFragmentMuxer implements LiveMuxer {
  readonly init: Uint8Array
  /** Of H.264 alone. */
  readonly #groups: GroupCloser | undefined
  readonly #cutter: FragmentCutter
  readonly #rhythm: PartRhythm
  readonly #audioRate: number
  /** Of a stream that has no audio, for a track that has. */
  readonly #silence: SilentBlock | undefined
  /** Where the silence ends so far, in samples. */
  #silenceEnd = 0
  /** Finished, and not returned yet. */
  readonly #chunks: LiveChunk[] = []
  #sequence = 0

  /** `silence`: the audio track of `init` is filled with it. */
  constructor(init: Uint8Array, { video, audio }: StreamFormat, rhythm: PartRhythm, silence?: SilentBlock) {
    this.init = init
    this.#rhythm = rhythm
    rhythm.startRun()
    this.#groups = video.codec === 'h264' ? new GroupCloser(video.config) : undefined
    this.#audioRate = audio?.sampleRate ?? 0
    this.#silence = silence
    this.#cutter = new FragmentCutter({ video, audio: silence ? undefined : audio }, limits, {
      wantsNewFile: () => false,
      startFile: () => {},
      addFragment: (fragment) => this.#chunks.push(this.#write(fragment)),
    })
  }

  push(frame: Frame): LiveChunk[] {
    if (frame.kind === 'audio') {
      if (this.#cutter.openBlocks < maxAudioBlocks) this.#cutter.pushAudio(frame)
    } else {
      const video = this.#groups ? toStart(frame, this.#groups) : frame
      if (video) this.#cutter.pushVideo(video, this.#rhythm.next(video))
    }
    return this.#chunks.splice(0)
  }

  flush(): LiveChunk[] {
    this.#cutter.finish(longestFrame90k)
    return this.#chunks.splice(0)
  }

  #write(fragment: CutFragment): LiveChunk {
    const { start90k, duration90k, isKey, startMs, video, audio, audioStart, isBeforeKey } = fragment
    const start = Math.max(0, start90k + origin90k)
    const runs: TrackRun[] = [{ trackId: 1, baseDecodeTime: start, samples: video }]
    if (audio.length > 0) {
      const audioOrigin = scaleTicks(origin90k, this.#audioRate)
      runs.push({ trackId: 2, baseDecodeTime: Math.max(0, audioStart + audioOrigin), samples: audio })
    }
    if (this.#silence) runs.push(this.#writeSilence(this.#silence, start, start + duration90k))
    const data = writeFragment(++this.#sequence, runs)
    for (const memory of fragment.memories) memory.release()
    const chunk = { kind: 'media', isKey, wallMs: startMs, durationMs: duration90k / 90, data } as const
    const { targetMs } = this.#rhythm
    return { ...chunk, endsGroup: isBeforeKey, ...(targetMs !== undefined && { partTargetMs: targetMs }) }
  }

  /** Writes silence that is as long as the video, or up to a block longer. */
  #writeSilence({ data, samples: duration }: SilentBlock, startTime: number, endTime: number): TrackRun {
    const start = scaleTicks(startTime, this.#audioRate)
    // After a loss of frames, silence starts at the time of the next frame.
    if (Math.abs(this.#silenceEnd - start) > duration) this.#silenceEnd = start
    const baseDecodeTime = this.#silenceEnd
    const count = Math.max(1, Math.ceil((scaleTicks(endTime, this.#audioRate) - baseDecodeTime) / duration))
    this.#silenceEnd += count * duration
    const samples = new Array<Sample>(count).fill({ data, duration, compositionOffset: 0, isKey: true })
    return { trackId: 2, baseDecodeTime, samples }
  }
}

/** Rewrites an H.264 frame so that players can start at its group; undefined when the frame is left out. */
function toStart(frame: Frame, groups: GroupCloser): Frame | undefined {
  const closed = groups.close(frame)
  if (!closed || closed.isLeading) return undefined
  return closed.recovery ? { ...closed, data: withoutRefreshCount(closed.data), memory: undefined } : closed
}

function writeFragment(sequence: number, runs: readonly TrackRun[]): Uint8Array {
  const head = writeFragmentHead(sequence, runs)
  const samples = runs.flatMap((run) => run.samples)
  const data = new Uint8Array(samples.reduce((sum, sample) => sum + sample.data.length, head.length))
  data.set(head)
  let at = head.length
  for (const sample of samples) {
    data.set(sample.data, at)
    at += sample.data.length
  }
  return data
}

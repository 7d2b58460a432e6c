// Writes one MP4 fragment per group of pictures with its audio. A long group is split every two seconds. ISO/IEC
// 14496-12 8.8.
//
// A player may begin at any group. Unlike H.265, H.264 has no leading pictures, and Chromium's decoder stops at a frame
// whose references are missing. H.264 frames that refer to the previous group are therefore left out, which makes the
// group independent.

import { type Frame, frameCostBytes, type StreamFormat } from '../media/frame.ts'
import { GroupCloser } from '../media/h264/group-closer.ts'
import { type Sample, type TrackRun, writeFragmentHead } from '../media/mp4/media-fragment.ts'
import { scaleTicks } from '../media/mp4/timescale.ts'
import { withoutRefreshCount } from '../media/nal/key-frame.ts'
import type { SilentBlock } from '../media/telephony/silence.ts'
import type { LiveChunk } from './live-chunk.ts'
import type { LiveMuxer } from './live-muxer.ts'
import { createAudioTimes, createVideoTimes, type TrackTimes } from './track-times.ts'

/** A longer group is sent in parts, which keeps memory use and the burst at its end small. */
const maxPart90k = 2 * 90_000
/** What a camera of 32 Mbit/s sends in that time. Only huge frames or timestamps that hardly advance exceed it. */
const maxPartBytes = 8 * 1024 * 1024
/** Further audio blocks are dropped while no video frame arrives, because only a video frame can end a part. */
const maxAudioBlocks = 1000

/** A part waits this long, in video time, for its audio. */
const maxAudioWait90k = 45_000

type Timed = { readonly frame: Frame; readonly time: number }

/** The video frames of a complete part, which may still lack audio. The last frame lasts until `endTime`. */
type Part = { readonly video: readonly Timed[]; readonly endTime: number; readonly endsGroup: boolean }

export class GroupFragmentMuxer implements LiveMuxer {
  readonly init: Uint8Array
  /** Of H.264 alone. */
  readonly #groups: GroupCloser | undefined
  readonly #videoTimes: TrackTimes = createVideoTimes()
  readonly #audioTimes: TrackTimes | undefined
  readonly #audioRate: number
  /** Of a stream that has no audio, for a track that has. */
  readonly #silence: SilentBlock | undefined
  /** Where the silence ends so far, in samples. */
  #silenceEnd = 0
  #held: Part | undefined
  #video: Timed[] = []
  #videoBytes = 0
  #audio: Timed[] = []
  #sequence = 0

  /** `silence`: the audio track of `init` is filled with it. */
  constructor(init: Uint8Array, { video, audio }: StreamFormat, silence?: SilentBlock) {
    this.init = init
    this.#groups = video.codec === 'h264' ? new GroupCloser(video.config) : undefined
    this.#audioTimes = audio && createAudioTimes(audio)
    this.#audioRate = audio?.sampleRate ?? 0
    this.#silence = silence
  }

  push(frame: Frame): LiveChunk | undefined {
    if (frame.kind === 'audio') {
      if (!this.#audioTimes || this.#audio.length >= maxAudioBlocks) return undefined
      const time = this.#audioTimes.next(frame.dts90k)
      this.#audio.push({ frame, time })
      return this.#held && time >= this.#toAudioTime(this.#held.endTime) ? this.#takeHeld() : undefined
    }
    const video = this.#groups ? toStart(frame, this.#groups) : frame
    if (!video) return undefined
    const time = this.#videoTimes.next(frame.dts90k)
    const first = this.#video[0]
    const isLong = first !== undefined && (time - first.time >= maxPart90k || this.#videoBytes >= maxPartBytes)
    const isFull = isLong || (first !== undefined && frame.isKey)
    const isLate = this.#held !== undefined && time >= this.#held.endTime + maxAudioWait90k
    const chunk = isFull || isLate ? this.#takeHeld() : undefined
    if (isFull) this.#hold(time, frame.isKey)
    this.#video.push({ frame: video, time })
    this.#videoBytes += video.data.length + frameCostBytes
    return chunk ?? (this.#isHeldWhole ? this.#takeHeld() : undefined)
  }

  flush(): LiveChunk[] {
    const held = this.#takeHeld()
    const last = this.#video.at(-1)
    if (last) this.#hold(last.time + this.#videoTimes.duration, true)
    return [held, this.#takeHeld()].filter((chunk) => chunk !== undefined)
  }

  #hold(endTime: number, endsGroup: boolean): void {
    this.#held = { video: this.#video, endTime, endsGroup }
    this.#video = []
    this.#videoBytes = 0
  }

  /** Nothing is waited for: there is no audio, or it has come already. */
  get #isHeldWhole(): boolean {
    if (!this.#held) return false
    const audio = this.#audio.at(-1)
    return !this.#audioTimes || !!this.#silence || (!!audio && audio.time >= this.#toAudioTime(this.#held.endTime))
  }

  #takeHeld(): LiveChunk | undefined {
    if (!this.#held) return undefined
    const { video, endTime, endsGroup } = this.#held
    this.#held = undefined
    const first = video[0]!
    const runs: TrackRun[] = [{ trackId: 1, baseDecodeTime: first.time, samples: toSamples(video, endTime) }]
    const audio = this.#takeAudio(endTime)
    if (audio.length > 0 && this.#audioTimes) {
      const end = this.#audio[0]?.time ?? audio.at(-1)!.time + this.#audioTimes.duration
      runs.push({ trackId: 2, baseDecodeTime: audio[0]!.time, samples: toSamples(audio, end) })
    }
    if (this.#silence) runs.push(this.#writeSilence(this.#silence, first.time, endTime))
    const { frame } = first
    const data = writeFragment(++this.#sequence, runs)
    const durationMs = (endTime - first.time) / 90
    return { kind: 'media', isKey: frame.isKey, wallMs: frame.wallMs, durationMs, data, endsGroup }
  }

  /** Takes the audio blocks that begin before this time of the video. */
  #takeAudio(endTime: number): Timed[] {
    const end = this.#toAudioTime(endTime)
    const count = this.#audio.findIndex(({ time }) => time >= end)
    return this.#audio.splice(0, count === -1 ? this.#audio.length : count)
  }

  #toAudioTime(time90k: number): number {
    return scaleTicks(time90k, this.#audioRate)
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

function toSamples(frames: readonly Timed[], endTime: number): Sample[] {
  return frames.map(({ frame, time }, i) => ({
    data: frame.data,
    duration: (frames[i + 1]?.time ?? endTime) - time,
    compositionOffset: frame.kind === 'video' ? frame.pts90k - frame.dts90k : 0,
    isKey: frame.isKey,
    recovery: frame.recovery,
    isLeading: frame.isLeading,
  }))
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

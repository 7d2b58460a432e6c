// One MP4 fragment per group of pictures, its sound included, or per two seconds of a long one. ISO/IEC 14496-12 8.8.

import type { Frame, StreamFormat } from '../media/frame.ts'
import { type Sample, type TrackRun, writeFragmentHead } from '../media/mp4/media-fragment.ts'
import type { LiveMuxer } from './live-muxer.ts'
import type { LivePiece } from './live-piece.ts'
import { createAudioTimes, createVideoTimes, type TrackTimes } from './track-times.ts'

/** A longer group is sent in parts, so that memory and the burst at its end stay small. */
const maxPart90k = 2 * 90_000
/** Sound beyond this, while no picture comes, is dropped: a part ends only with a picture. */
const maxAudioBlocks = 1000

type Timed = { readonly frame: Frame; readonly time: number }

export class GroupFragmentMuxer implements LiveMuxer {
  readonly init: Uint8Array
  readonly #videoTimes: TrackTimes = createVideoTimes()
  readonly #audioTimes: TrackTimes | undefined
  #video: Timed[] = []
  #audio: Timed[] = []
  #sequence = 0

  constructor(init: Uint8Array, { audio }: StreamFormat) {
    this.init = init
    this.#audioTimes = audio && createAudioTimes(audio)
  }

  push(frame: Frame): LivePiece | undefined {
    if (frame.kind === 'audio') {
      if (!this.#audioTimes || this.#audio.length >= maxAudioBlocks) return undefined
      this.#audio.push({ frame, time: this.#audioTimes.next(frame.dts90k) })
      return undefined
    }
    const time = this.#videoTimes.next(frame.dts90k)
    const first = this.#video[0]
    const isFull = first !== undefined && (frame.isKey || time - first.time >= maxPart90k)
    const piece = isFull ? this.#takePart(time, frame.isKey) : undefined
    this.#video.push({ frame, time })
    return piece
  }

  flush(): LivePiece | undefined {
    const last = this.#video.at(-1)
    return last && this.#takePart(last.time + this.#videoTimes.duration, true)
  }

  /** The frames gathered so far, the last of which lasts until `endTime`. */
  #takePart(endTime: number, endsGroup: boolean): LivePiece {
    const first = this.#video[0]!
    const runs: TrackRun[] = [{ trackId: 1, baseDecodeTime: first.time, samples: toSamples(this.#video, endTime) }]
    const sound = this.#audio[0]
    if (sound && this.#audioTimes) {
      const end = this.#audio.at(-1)!.time + this.#audioTimes.duration
      runs.push({ trackId: 2, baseDecodeTime: sound.time, samples: toSamples(this.#audio, end) })
    }
    const { frame } = first
    const data = writeFragment(++this.#sequence, runs)
    this.#video = []
    this.#audio = []
    const durationMs = (endTime - first.time) / 90
    return { kind: 'media', isKey: frame.isKey, wallMs: frame.wallMs, durationMs, data, endsGroup }
  }
}

function toSamples(frames: readonly Timed[], endTime: number): Sample[] {
  return frames.map(({ frame, time }, i) => ({
    data: frame.data,
    duration: (frames[i + 1]?.time ?? endTime) - time,
    compositionOffset: frame.kind === 'video' ? frame.pts90k - frame.dts90k : 0,
    isKey: frame.isKey,
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

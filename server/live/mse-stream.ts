// Live video for a page that plays it with Media Source Extensions. Each track is appended to a source buffer of its
// own, because a hole in one track would otherwise make the browser discard the other up to its next key frame.
//
// Media Source also discards everything up to the next key frame when a frame begins later than two durations of the
// previous one. Such holes are therefore closed on the viewer's time axis, and each frame says when it was captured
// (`prft`, ISO/IEC 14496-12 8.16.5).

import type { StreamFormat } from '../media/frame.ts'
import { writeInOrderConfig } from '../media/h264/in-order-config.ts'
import { parseBoxHeader } from '../media/mp4/box-scanner.ts'
import { parseMovieFragment, shiftDecodeTimes } from '../media/mp4/fragment-head.ts'
import { audioTrackId, videoTimescale, videoTrackId, writeInitSegment } from '../media/mp4/init-segment.ts'
import { prftBytes, writeFragmentHead, writeProducerReferenceTime } from '../media/mp4/media-fragment.ts'
import { writeWithoutRefreshCount } from '../media/nal/key-frame.ts'
import { createSilence, type SilentBlock } from '../media/telephony/silence.ts'
import type { LiveChunk } from './live-chunk.ts'

/** A page plays only what it has of both tracks, so audio that is later than this is replaced by silence. */
const maxAudioDelaySeconds = 0.5
/** Of the audio behind the video, before any has come. */
const usualDelaySeconds = 0.2
/** The silence of one moment, and the longest hole in audio that is filled. */
const maxSilenceSeconds = 10
const mdatHeaderBytes = 8

/** Converts the `mp4` chunks of one run to what one page receives. Times begin at 0. */
export class MseStream {
  /** The initialization sections, one for each track: video, then audio. */
  readonly head: Uint8Array
  readonly #isH264: boolean
  readonly #audioRate: number
  readonly #silence: SilentBlock | undefined
  /** Of the newest frame, on the time axis of the run, and its estimated duration. 90 kHz. */
  #last: { readonly dts90k: number; readonly duration90k: number } | undefined
  /** From the run's time to the viewer's, 90 kHz: the first frame's time, and all holes so far. */
  #shift90k = 0
  /** On the viewer's time axis, in the timescale of the audio. */
  #audioEnd = 0
  /** No audio comes, so the silence follows the video as closely as the audio did. */
  #isSilent = false
  /** By how much the audio is behind the video, in its timescale. */
  #delay = 0
  #sequence = 0

  constructor({ video: sent, audio }: StreamFormat, hasAudio: boolean) {
    this.#isH264 = sent.codec === 'h264'
    const video = this.#isH264 ? { ...sent, config: writeInOrderConfig(sent.config) } : sent
    const heard = hasAudio ? audio : undefined
    this.#audioRate = heard?.sampleRate ?? 0
    this.#silence = heard && createSilence(heard)?.[0]
    this.#delay = usualDelaySeconds * this.#audioRate
    this.head = heard
      ? concat([writeInitSegment({ video }), writeInitSegment({ audio: heard })])
      : writeInitSegment({ video })
  }

  /** What to send of a `media` chunk; nothing for audio that is not wanted or has no room. */
  push(chunk: LiveChunk): Uint8Array | undefined {
    const moofBytes = parseBoxHeader(chunk.data)!.bytes
    const [track] = parseMovieFragment(chunk.data.subarray(0, moofBytes)).tracks
    if (!track) return undefined
    if (track.trackId === videoTrackId) return this.#pushVideo(chunk, moofBytes, track.baseDecodeTime)
    return this.#audioRate > 0 ? this.#pushAudio(chunk, track.baseDecodeTime, track.duration) : undefined
  }

  #pushVideo(
    { data, isKey, wallMs, durationMs, compositionOffset = 0 }: LiveChunk,
    moofBytes: number,
    dts90k: number,
  ): Uint8Array {
    const last = this.#last
    if (!last) this.#shift90k = dts90k
    else if (dts90k - last.dts90k > 2 * last.duration90k) this.#shift90k += dts90k - last.dts90k - last.duration90k
    this.#last = { dts90k, duration90k: Math.max(1, Math.round(durationMs * 90)) }
    const out = new Uint8Array(prftBytes + data.length)
    writeProducerReferenceTime(new DataView(out.buffer), videoTrackId, dts90k, wallMs - compositionOffset / 90)
    out.set(data, prftBytes)
    shiftDecodeTimes(out, () => -this.#shift90k)
    if (isKey && this.#isH264) writeWithoutRefreshCount(out.subarray(prftBytes + moofBytes + mdatHeaderBytes))
    const time = Math.round(((dts90k - this.#shift90k) * this.#audioRate) / videoTimescale)
    const limit = maxAudioDelaySeconds * this.#audioRate
    if (time - limit > this.#audioEnd) this.#isSilent = true
    const silence = this.#isSilent ? this.#fillUntil(time - Math.min(limit, this.#delay)) : undefined
    return silence ? concat([silence, out]) : out
  }

  #pushAudio({ data }: LiveChunk, position: number, samples: number): Uint8Array | undefined {
    if (!this.#last) return undefined
    const shift = Math.round((this.#shift90k * this.#audioRate) / videoTimescale)
    const time = position - shift
    // Audio goes on while the video stalls. What is too early for the time axis of the viewer would play too late.
    const videoEnd = ((this.#last.dts90k - this.#shift90k) * this.#audioRate) / videoTimescale
    this.#delay = Math.max(this.#delay - samples / 100, videoEnd - time + samples)
    if (time < this.#audioEnd || time > videoEnd + maxSilenceSeconds * this.#audioRate) return undefined
    const silence = this.#fillUntil(time)
    this.#audioEnd = time + samples
    this.#isSilent = false
    const out = data.slice()
    shiftDecodeTimes(out, () => -shift)
    return silence ? concat([silence, out]) : out
  }

  /** Silence up to this time, if the audio ends more than a block before it. */
  #fillUntil(time: number): Uint8Array | undefined {
    const block = this.#silence
    if (!block) return undefined
    const rate = this.#audioRate
    if (time - this.#audioEnd > maxSilenceSeconds * rate) this.#audioEnd = Math.round(time - maxSilenceSeconds * rate)
    const count = Math.floor((time - this.#audioEnd) / block.samples)
    if (count <= 0) return undefined
    const sample = { data: block.data, duration: block.samples, compositionOffset: 0, isKey: true }
    const samples = new Array<typeof sample>(count).fill(sample)
    const run = { trackId: audioTrackId, baseDecodeTime: this.#audioEnd, samples } as const
    this.#audioEnd += count * block.samples
    return concat([writeFragmentHead(++this.#sequence, [run]), ...samples.map(({ data }) => data)])
  }
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    out.set(part, at)
    at += part.length
  }
  return out
}

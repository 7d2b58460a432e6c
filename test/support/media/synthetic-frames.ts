// Generates real, tiny H.264 and AAC frames without an encoder, for tests of everything that stores or sends frames.
// Key frames consist of I_PCM macroblocks of one brightness; other frames skip every macroblock. ITU-T H.264 7.3.

import type { AudioFormat, Frame, StreamFormat, VideoFormat } from '../../../server/media/frame.ts'

export type SyntheticOptions = {
  /** Frames per second; default 25. */
  readonly frameRate?: number
  /** Number of frames from one key frame to the next; default 25. */
  readonly gopFrames?: number
  /** Multiples of 16; default 64 by 48. */
  readonly width?: number
  readonly height?: number
  /** Sample rate of the mono AAC track; default no audio. */
  readonly audioSampleRate?: 8000 | 16000 | 44100 | 48000
  /** Wall clock of the first frame, Unix milliseconds; default 2026-01-02T03:04:05Z. */
  readonly startMs?: number
  /** Time of the first frame on the time axis of the run; default 0. */
  readonly start90k?: number
}

export const syntheticStartMs = Date.UTC(2026, 0, 2, 3, 4, 5)

const audioRateIndex = { 8000: 11, 16000: 8, 44100: 4, 48000: 3 } as const

export function syntheticFormat({ width = 64, height = 48, audioSampleRate }: SyntheticOptions = {}): StreamFormat {
  const sps = writeSps(width, height)
  const pps = nal(
    0x68,
    new BitWriter().ue(0).ue(0).bits(0, 2).ue(0).ue(0).ue(0).bits(0, 3).se(0).se(0).se(0).bits(0, 3),
  )
  const config = Uint8Array.from([
    ...[1, sps[1]!, sps[2]!, sps[3]!, 0xff, 0xe1, 0, sps.length, ...sps],
    ...[1, 0, pps.length, ...pps],
  ])
  const video: VideoFormat = { codec: 'h264', width, height, config, codecString: 'avc1.42c01e' }
  if (audioSampleRate === undefined) return { video, audio: undefined }
  const audio: AudioFormat = {
    codec: 'aac',
    sampleRate: audioSampleRate,
    channels: 1,
    config: Uint8Array.from([
      (2 << 3) | (audioRateIndex[audioSampleRate] >> 1),
      ((audioRateIndex[audioSampleRate] & 1) << 7) | 8,
    ]),
    codecString: 'mp4a.40.2',
  }
  return { video, audio }
}

/** Yields frames in the order of their time without end, beginning with a key frame. */
export function* syntheticFrames(options: SyntheticOptions = {}): Generator<Frame, never> {
  const { frameRate = 25, gopFrames = 25, width = 64, height = 48, audioSampleRate } = options
  const { startMs = syntheticStartMs, start90k = 0 } = options
  const macroblocks = (width / 16) * (height / 16)
  let blocks = 0
  for (let index = 0; ; index++) {
    const ticks = Math.round((index * 90_000) / frameRate)
    for (; audioSampleRate !== undefined; blocks++) {
      const audioTicks = Math.round((blocks * 1024 * 90_000) / audioSampleRate)
      if (audioTicks > ticks) break
      yield timed('audio', audioTicks, true, Uint8Array.of(0x00, 0xc8, 0x00, 0x80, 0x23, 0x80))
    }
    const inGop = index % gopFrames
    const unit = inGop === 0 ? keySlice(macroblocks, index / gopFrames) : skipSlice(macroblocks, inGop)
    yield timed('video', ticks, inGop === 0, lengthPrefixed(unit))
  }

  function timed(kind: Frame['kind'], ticks: number, isKey: boolean, data: Uint8Array): Frame {
    const at90k = start90k + ticks
    return { kind, pts90k: at90k, dts90k: at90k, wallMs: startMs + ticks / 90, isKey, data }
  }
}

/** Baseline profile, level 3; pictures are shown in decoding order. */
function writeSps(width: number, height: number): Uint8Array {
  const bits = new BitWriter().bits(66, 8).bits(0xc0, 8).bits(30, 8)
  bits.ue(0).ue(0).ue(2).ue(1).bits(0, 1) // id, 4 bits of frame_num, order type 2, one reference
  bits
    .ue(width / 16 - 1)
    .ue(height / 16 - 1)
    .bits(0b1100, 4) // frames only, no cropping, no VUI
  return nal(0x67, bits)
}

/** Written once for each size and brightness, because it is by far the largest part of the frames. */
const keySlices = new Map<string, Uint8Array>()

function keySlice(macroblocks: number, key: number): Uint8Array {
  const name = `${macroblocks} ${key % 2} ${brightness(key)}`
  const slice = keySlices.get(name) ?? writeKeySlice(macroblocks, key)
  keySlices.set(name, slice)
  return slice
}

function brightness(key: number): number {
  return 32 + ((key * 40) % 190)
}

function writeKeySlice(macroblocks: number, key: number): Uint8Array {
  const bits = new BitWriter()
    .ue(0)
    .ue(7)
    .ue(0)
    .bits(0, 4)
    .ue(key % 2)
    .bits(0, 2)
    .se(0)
  for (let i = 0; i < macroblocks; i++) {
    bits.ue(25).align()
    for (let j = 0; j < 384; j++) bits.bits(j < 256 ? brightness(key) : 128, 8)
  }
  return nal(0x65, bits)
}

function skipSlice(macroblocks: number, frameNum: number): Uint8Array {
  return nal(
    0x41,
    new BitWriter()
      .ue(0)
      .ue(5)
      .ue(0)
      .bits(frameNum % 16, 4)
      .bits(0, 3)
      .se(0)
      .ue(macroblocks),
  )
}

function lengthPrefixed(unit: Uint8Array): Uint8Array {
  const out = new Uint8Array(4 + unit.length)
  new DataView(out.buffer).setUint32(0, unit.length)
  out.set(unit, 4)
  return out
}

/** Stop bit, padding, and emulation prevention (H.264 7.4.1). */
function nal(header: number, bits: BitWriter): Uint8Array {
  const out = [header]
  let zeros = 0
  for (const byte of bits.bits(1, 1).align().bytes) {
    if (zeros === 2 && byte <= 3) {
      out.push(3)
      zeros = 0
    }
    out.push(byte)
    zeros = byte === 0 ? zeros + 1 : 0
  }
  return Uint8Array.from(out)
}

class BitWriter {
  readonly bytes: number[] = []
  #used = 8

  bits(value: number, count: number): this {
    for (let i = count - 1; i >= 0; i--) {
      if (this.#used === 8) {
        this.bytes.push(0)
        this.#used = 0
      }
      this.bytes[this.bytes.length - 1]! |= ((value >> i) & 1) << (7 - this.#used++)
    }
    return this
  }

  ue(value: number): this {
    const length = 32 - Math.clz32(value + 1)
    return this.bits(0, length - 1).bits(value + 1, length)
  }

  se(value: number): this {
    return this.ue(value > 0 ? value * 2 - 1 : -value * 2)
  }

  align(): this {
    this.#used = 8
    return this
  }
}

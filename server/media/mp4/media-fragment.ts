// Writes the head of one fragment. It runs for every recorded group of pictures and every live frame, so it computes
// all sizes first and then writes into one allocation. ISO/IEC 14496-12: `prft` 8.16.5, `moof` 8.8.4, `traf` 8.8.6 to
// 8.8.12, `mdat` 8.1.1, `sgpd` and `sbgp` 8.9, roll recovery 10.1.

import { AppError } from '../../base/error.ts'
import type { Frame } from '../frame.ts'

export type Sample = Pick<Frame, 'recovery' | 'isLeading'> & {
  readonly data: Uint8Array
  /** In the timescale of the track. */
  readonly duration: number
  /** Presentation time minus decode time in the timescale of the track; may be negative. */
  readonly compositionOffset: number
  readonly isKey: boolean
}

export type TrackRun = {
  readonly trackId: 1 | 2
  /** Decode time of the first sample in the timescale of the track: a safe integer of at least 0. */
  readonly baseDecodeTime: number
  readonly samples: readonly Sample[]
}

/** A run as the fragment head describes it: only the length of the sample data is needed. */
export type RunHead = Omit<TrackRun, 'samples'> & {
  readonly samples: readonly (Omit<Sample, 'data'> & { readonly data: { readonly length: number } })[]
}

const keyFlags = 0x02000000 // depends on no other sample
const deltaFlags = 0x01010000 // depends on other samples, is not a sync sample
const openKeyFlags = 0x02010000 // depends on no other sample, but later samples may depend on earlier ones
const leadingFlags = 0x05010000 // as delta, and leading: not decodable when decoding starts at the preceding key frame

const rollBytes = 26 + 28
const maxRoll = 0x7fff

/** The size of the `prft` that `writeProducerReferenceTime` writes. */
export const prftBytes = 32
const ntpMinusUnixSeconds = 2_208_988_800

type Layout = {
  readonly run: RunHead
  readonly hasOneDuration: boolean
  /** The flags of all samples except possibly the first; undefined when each sample needs its own. */
  readonly restFlags: number | undefined
  readonly hasCompositionOffsets: boolean
  /** The number of samples after which decoding that starts at the first sample is correct; 0 for no roll recovery. */
  readonly roll: number
  readonly trafBytes: number
  readonly dataBytes: number
}

/**
 * Writes `moof` and the header of `mdat`. The bytes of the samples follow in the order of `runs`, each of which has at
 * least one sample. With `wallMs`, a preceding `prft` contains the wall clock (Unix milliseconds) of the first sample
 * of the first run. Throws 'invalid' when the samples do not fit in one `mdat` of 4 GiB.
 */
export function writeFragmentHead(sequence: number, runs: readonly RunHead[], wallMs?: number): Uint8Array {
  const layouts = runs.map(layoutRun)
  let moofBytes = 8 + 16
  let mdatBytes = 8
  for (const layout of layouts) {
    moofBytes += layout.trafBytes
    mdatBytes += layout.dataBytes
  }
  if (mdatBytes > 0xffffffff)
    throw new AppError('invalid', `expected a fragment of less than 4 GiB, got ${mdatBytes} bytes`)

  const prefix = wallMs === undefined ? 0 : prftBytes
  const out = new DataView(new ArrayBuffer(prefix + moofBytes + 8))
  if (wallMs !== undefined && runs[0]) writeProducerReferenceTime(out, runs[0].trackId, runs[0].baseDecodeTime, wallMs)
  let at = writeHeader(out, prefix, moofBytes, 0x6d6f6f66 /* moof */)
  at = writeHeader(out, at, 16, 0x6d666864 /* mfhd */)
  out.setUint32(at + 4, sequence)
  at += 8
  let dataOffset = moofBytes + 8
  for (const layout of layouts) {
    at = writeTrackFragment(out, at, layout, dataOffset)
    dataOffset += layout.dataBytes
  }
  writeHeader(out, at, mdatBytes, 0x6d646174 /* mdat */)
  return new Uint8Array(out.buffer)
}

function layoutRun(run: RunHead): Layout {
  const { samples } = run
  const first = samples[0]
  if (!first) throw new AppError('invalid', `expected samples in the run of track ${run.trackId}, got none`)
  const rest = samples[1] ?? first
  const firstFlags = sampleFlags(first)
  const restFlags = sampleFlags(rest)
  const roll = first.isKey ? Math.min(first.recovery ?? 0, maxRoll) : 0
  let hasOneDuration = true
  let isRestUniform = true
  let hasCompositionOffsets = first.compositionOffset !== 0
  let dataBytes = first.data.length
  for (let i = 1; i < samples.length; i++) {
    const sample = samples[i]!
    dataBytes += sample.data.length
    if (sample.duration !== first.duration) hasOneDuration = false
    if (sampleFlags(sample) !== restFlags) isRestUniform = false
    if (sample.compositionOffset !== 0) hasCompositionOffsets = true
  }
  const entryBytes = 4 + (hasOneDuration ? 0 : 4) + (isRestUniform ? 0 : 4) + (hasCompositionOffsets ? 4 : 0)
  const tfhdBytes = 16 + (hasOneDuration ? 4 : 0) + (isRestUniform ? 4 : 0)
  const trunBytes = 20 + (isRestUniform && firstFlags !== restFlags ? 4 : 0) + samples.length * entryBytes
  return {
    run,
    hasOneDuration,
    restFlags: isRestUniform ? restFlags : undefined,
    hasCompositionOffsets,
    roll,
    trafBytes: 8 + tfhdBytes + 20 + trunBytes + (roll > 0 ? rollBytes : 0),
    dataBytes,
  }
}

function writeTrackFragment(out: DataView, start: number, layout: Layout, dataOffset: number): number {
  const { run, hasOneDuration, restFlags, hasCompositionOffsets, roll } = layout
  const { samples } = run
  const first = samples[0]!
  const hasFirstFlags = restFlags !== undefined && restFlags !== sampleFlags(first)

  let at = writeHeader(out, start, layout.trafBytes, 0x74726166 /* traf */)

  const tfhdBytes = 16 + (hasOneDuration ? 4 : 0) + (restFlags === undefined ? 0 : 4)
  at = writeHeader(out, at, tfhdBytes, 0x74666864 /* tfhd */)
  out.setUint32(at, 0x020000 | (hasOneDuration ? 0x08 : 0) | (restFlags === undefined ? 0 : 0x20)) // default-base-is-moof
  out.setUint32(at + 4, run.trackId)
  at += 8
  if (hasOneDuration) {
    out.setUint32(at, first.duration)
    at += 4
  }
  if (restFlags !== undefined) {
    out.setUint32(at, restFlags)
    at += 4
  }

  at = writeHeader(out, at, 20, 0x74666474 /* tfdt */)
  out.setUint32(at, 0x01000000)
  writeUint64(out, at + 4, run.baseDecodeTime)
  at += 12

  const trunBytes = start + layout.trafBytes - at - (roll > 0 ? rollBytes : 0)
  at = writeHeader(out, at, trunBytes, 0x7472756e /* trun */)
  const trunFlags =
    0x01 |
    (hasFirstFlags ? 0x04 : 0) |
    (hasOneDuration ? 0 : 0x100) |
    0x200 |
    (restFlags === undefined ? 0x400 : 0) |
    (hasCompositionOffsets ? 0x800 : 0)
  out.setUint32(at, 0x01000000 | trunFlags)
  out.setUint32(at + 4, samples.length)
  out.setUint32(at + 8, dataOffset)
  at += 12
  if (hasFirstFlags) {
    out.setUint32(at, sampleFlags(first))
    at += 4
  }
  for (const sample of samples) {
    if (!hasOneDuration) {
      out.setUint32(at, sample.duration)
      at += 4
    }
    out.setUint32(at, sample.data.length)
    at += 4
    if (restFlags === undefined) {
      out.setUint32(at, sampleFlags(sample))
      at += 4
    }
    if (hasCompositionOffsets) {
      out.setInt32(at, sample.compositionOffset)
      at += 4
    }
  }
  return roll > 0 ? writeRoll(out, at, roll) : at
}

/** Decoding may start at the first sample, and its output is correct after `roll` further samples. */
function writeRoll(out: DataView, start: number, roll: number): number {
  let at = writeHeader(out, start, 26, 0x73677064 /* sgpd */)
  out.setUint32(at, 0x01000000)
  out.setUint32(at + 4, 0x726f6c6c /* roll */)
  out.setUint32(at + 8, 2) // bytes of each description
  out.setUint32(at + 12, 1)
  out.setInt16(at + 16, roll)
  at = writeHeader(out, at + 18, 28, 0x73626770 /* sbgp */)
  out.setUint32(at + 4, 0x726f6c6c /* roll */)
  out.setUint32(at + 8, 1)
  out.setUint32(at + 12, 1) // applies to one sample; the rest are in no group
  out.setUint32(at + 16, 0x10001) // the first description in this fragment
  return at + 20
}

/** Writes a `prft` at the beginning of `out`: the wall clock (Unix milliseconds) of a media time of the track. */
export function writeProducerReferenceTime(out: DataView, trackId: number, time: number, wallMs: number): void {
  const at = writeHeader(out, 0, prftBytes, 0x70726674 /* prft */)
  out.setUint32(at, 0x01000018) // version 1; the time is the capture time, consistent over the file
  out.setUint32(at + 4, trackId)
  const seconds = Math.floor(wallMs / 1000)
  out.setUint32(at + 8, seconds + ntpMinusUnixSeconds) // wraps in 2036, as NTP does
  out.setUint32(at + 12, Math.floor(((wallMs - seconds * 1000) / 1000) * 0x100000000))
  writeUint64(out, at + 16, time)
}

function sampleFlags({ isKey, recovery, isLeading }: Pick<Sample, 'isKey' | 'recovery' | 'isLeading'>): number {
  if (!isKey) return isLeading ? leadingFlags : deltaFlags
  return recovery === undefined ? keyFlags : recovery === 0 ? openKeyFlags : deltaFlags
}

/** Returns where the content begins. */
function writeHeader(out: DataView, at: number, bytes: number, type: number): number {
  out.setUint32(at, bytes)
  out.setUint32(at + 4, type)
  return at + 8
}

function writeUint64(out: DataView, at: number, value: number): void {
  out.setUint32(at, Math.floor(value / 0x100000000))
  out.setUint32(at + 4, value % 0x100000000)
}

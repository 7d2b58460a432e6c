// Adds a silent audio track to video that was recorded without audio, because players require the same tracks
// throughout a stream. ISO/IEC 14496-12 8.2, 8.8.

import { createTranscodedFormat } from '../telephony/audio-transcoder.ts'
import { createSilence } from '../telephony/silence.ts'
import { box, writeBoxes } from './box.ts'
import { childBoxes } from './box-reader.ts'
import { type ScannedBox, scanBoxes } from './box-scanner.ts'
import { audioTrack, audioTrackId, trackExtends } from './init-segment.ts'
import { type Sample, writeFragmentHead } from './media-fragment.ts'
import { scaleTicks } from './timescale.ts'

/** A format that every browser plays; the same as for transcoded telephone audio. */
export const silentFormat = createTranscodedFormat()
const [block] = createSilence(silentFormat)!

/**
 * Adds an audio track to a recorded initialization section that has only a video track; others are returned unchanged.
 * Throws 'corrupt'.
 */
export function addSilentTrack(init: Uint8Array): Uint8Array {
  const { boxes } = scanBoxes(init)
  const moov = boxes.find(({ type }) => type === 'moov')
  const inside = moov ? childBoxes(init, moov) : []
  const mvex = inside.find(({ type }) => type === 'mvex')
  if (!moov || !mvex || inside.filter(({ type }) => type === 'trak').length > 1) return init
  const content = (of: ScannedBox) => init.slice(of.offset + of.headerBytes, of.offset + of.bytes)
  const before = init.slice(moov.offset + moov.headerBytes, mvex.offset)
  const [header] = inside
  if (header?.type === 'mvhd') {
    const nextTrackAt = header.offset + header.bytes - 4 - moov.offset - moov.headerBytes
    new DataView(before.buffer).setUint32(nextTrackAt, audioTrackId + 1)
  }
  const extends_ = box('mvex', content(mvex), trackExtends(audioTrackId))
  const written = writeBoxes([box('moov', before, audioTrack(silentFormat), extends_)])
  const out = new Uint8Array(moov.offset + written.length)
  out.set(init.subarray(0, moov.offset))
  out.set(written, moov.offset)
  return out
}

/**
 * Writes a fragment of silence for the video in [start90k, end90k). It consists of whole blocks that are counted from
 * `origin90k`, so that the fragments of consecutive entries continue each other. It ends with the video or less than a
 * block after it.
 */
export function writeSilentFragment(
  sequence: number,
  { origin90k, start90k, end90k }: { readonly origin90k: number; readonly start90k: number; readonly end90k: number },
): Uint8Array {
  const origin = scaleTicks(origin90k, silentFormat.sampleRate)
  const blocksUntil = (ticks90k: number) =>
    Math.ceil((scaleTicks(ticks90k, silentFormat.sampleRate) - origin) / block.samples)
  const first = blocksUntil(start90k)
  const count = Math.max(1, blocksUntil(end90k) - first)
  const { data, samples: duration } = block
  const samples = new Array<Sample>(count).fill({ data, duration, compositionOffset: 0, isKey: true })
  const baseDecodeTime = origin + first * block.samples
  const head = writeFragmentHead(sequence, [{ trackId: audioTrackId, baseDecodeTime, samples }])
  const bytes = new Uint8Array(head.length + count * data.length)
  bytes.set(head)
  for (let i = 0; i < count; i++) bytes.set(data, head.length + i * data.length)
  return bytes
}

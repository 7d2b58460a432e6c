// Writes the start of a fragmented MP4 file: `ftyp` and a `moov` without samples (ISO/IEC 14496-12 8.2 and 8.8). HLS
// calls it an initialization section (RFC 8216 3.3).

import type { AudioFormat, StreamFormat, VideoFormat } from '../frame.ts'
import { ascii, type Box, box, fixed16, fullBox, u16, u32, writeBoxes, zeros } from './box.ts'
import { audioSampleEntry, videoSampleEntry } from './sample-entry.ts'

export const videoTrackId = 1
export const audioTrackId = 2

/** Ticks per second of the video track. The timescale of the audio track is its sample rate. */
export const videoTimescale = 90_000

/**
 * Writes `ftyp` and `moov`. Track 1 is the video (timescale 90000), track 2 the audio (timescale is its sample rate);
 * either may be missing. Equal formats give equal bytes.
 */
export function writeInitSegment({ video, audio }: Partial<StreamFormat>): Uint8Array {
  const tracks: Box[] = []
  const extends_: Box[] = []
  if (video) {
    tracks.push(videoTrack(video))
    extends_.push(trackExtends(videoTrackId))
  }
  if (audio) {
    tracks.push(audioTrack(audio))
    extends_.push(trackExtends(audioTrackId))
  }
  return writeBoxes([
    box('ftyp', ascii('iso6'), u32(1), ascii('iso6mp41')),
    box('moov', movieHeader(audio ? audioTrackId + 1 : videoTrackId + 1), ...tracks, box('mvex', ...extends_)),
  ])
}

/** RFC 6381 codec strings of all tracks, separated by commas. */
export function formatCodecs({ video, audio }: StreamFormat): string {
  return audio ? `${video.codecString},${audio.codecString}` : video.codecString
}

const unityMatrix = [...fixed16(1), ...zeros(12), ...fixed16(1), ...zeros(12), 0x40, 0, 0, 0]

function movieHeader(nextTrackId: number): Box {
  return fullBox(
    'mvhd',
    0,
    0,
    u32(0, 0, videoTimescale, 0),
    fixed16(1),
    u16(0x0100), // full volume
    zeros(10),
    unityMatrix,
    zeros(24),
    u32(nextTrackId),
  )
}

function videoTrack(video: VideoFormat): Box {
  return track({
    id: videoTrackId,
    timescale: videoTimescale,
    handler: 'vide',
    volume: 0,
    width: video.width,
    height: video.height,
    mediaHeader: fullBox('vmhd', 0, 1, zeros(8)),
    entry: videoSampleEntry(video),
  })
}

/** Returns the `trak` box of the audio track. */
export function audioTrack(audio: AudioFormat): Box {
  return track({
    id: audioTrackId,
    timescale: audio.sampleRate,
    handler: 'soun',
    volume: 0x0100,
    width: 0,
    height: 0,
    mediaHeader: fullBox('smhd', 0, 0, zeros(4)),
    entry: audioSampleEntry(audio),
  })
}

type TrackValues = {
  id: number
  timescale: number
  handler: 'vide' | 'soun'
  volume: number
  width: number
  height: number
  mediaHeader: Box
  entry: Box
}

function track(t: TrackValues): Box {
  const isEnabledInMovie = 3
  return box(
    'trak',
    fullBox(
      'tkhd',
      0,
      isEnabledInMovie,
      u32(0, 0, t.id, 0, 0),
      zeros(8),
      u16(0, t.handler === 'soun' ? 1 : 0, t.volume, 0),
      unityMatrix,
      fixed16(t.width),
      fixed16(t.height),
    ),
    box(
      'mdia',
      fullBox('mdhd', 0, 0, u32(0, 0, t.timescale, 0), u16(0x55c4, 0)), // language "und"
      fullBox('hdlr', 0, 0, u32(0), ascii(t.handler), zeros(12), ascii(t.handler === 'vide' ? 'video\0' : 'audio\0')),
      box(
        'minf',
        t.mediaHeader,
        box('dinf', fullBox('dref', 0, 0, u32(1), fullBox('url ', 0, 1))),
        box(
          'stbl',
          fullBox('stsd', 0, 0, u32(1), t.entry),
          fullBox('stts', 0, 0, u32(0)),
          fullBox('stsc', 0, 0, u32(0)),
          fullBox('stsz', 0, 0, u32(0, 0)),
          fullBox('stco', 0, 0, u32(0)),
        ),
      ),
    ),
  )
}

/** Returns a `trex` box. */
export function trackExtends(trackId: number): Box {
  return fullBox('trex', 0, 0, u32(trackId, 1, 0, 0, 0))
}

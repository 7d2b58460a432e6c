// Which muxer makes the chunks of a live format; the two that need no file of their own.

import type { StreamFormat } from '../media/frame.ts'
import { writeInitSegment } from '../media/mp4/init-segment.ts'
import { silentFormat } from '../media/mp4/silent-track.ts'
import { TsWriter } from '../media/mpegts/ts-writer.ts'
import { KeyFrameCollector } from '../media/nal/key-frame.ts'
import { createSilence } from '../media/telephony/silence.ts'
import { FrameFragmentMuxer } from './frame-fragment-muxer.ts'
import { GroupFragmentMuxer } from './group-fragment-muxer.ts'
import type { LiveFormat } from './live-chunk.ts'
import type { LiveMuxer } from './live-muxer.ts'
import type { PartRhythm } from './part-rhythm.ts'

export type LiveMuxerOptions = {
  /** `keyframes` only: at most one key frame per this time. */
  readonly minIntervalMs: number
  /**
   * `hls` only: with a track of audio, or without one, whatever the stream has. Players keep the tracks they began with
   * over all runs.
   */
  readonly hasAudio: boolean
  /** `hls` only. */
  readonly rhythm: PartRhythm
}

/** Throws 'invalid' when the format cannot carry the codecs. */
export function createLiveMuxer(
  format: LiveFormat,
  stream: StreamFormat,
  { minIntervalMs, hasAudio, rhythm }: LiveMuxerOptions,
): LiveMuxer {
  switch (format) {
    case 'mp4':
      return new FrameFragmentMuxer(writeInitSegment(stream), stream)
    case 'hls':
      return createGroupMuxer(stream, hasAudio, rhythm)
    case 'mpegts':
      return createTsMuxer(stream)
    case 'keyframes':
      return createKeyFrameMuxer(stream, minIntervalMs)
  }
}

function createGroupMuxer({ video, audio }: StreamFormat, hasAudio: boolean, rhythm: PartRhythm): LiveMuxer {
  const isSilent = hasAudio && !audio
  const tracks = { video, audio: isSilent ? silentFormat : hasAudio ? audio : undefined }
  return new GroupFragmentMuxer(
    writeInitSegment(tracks),
    tracks,
    rhythm,
    isSilent ? createSilence(silentFormat)![0] : undefined,
  )
}

function createTsMuxer(stream: StreamFormat): LiveMuxer {
  const writer = new TsWriter(stream)
  return {
    init: new Uint8Array(),
    push(frame) {
      const data = writer.writeFrame(frame)
      if (data.length === 0) return []
      const isKey = frame.kind === 'video' && frame.isKey
      return [{ kind: 'media', isKey, wallMs: frame.wallMs, durationMs: 0, data }]
    },
    flush: () => [],
  }
}

/**
 * Sends at most one key frame per `minIntervalMs` of the camera's time. A key frame that becomes correct only after
 * further frames is sent together with them.
 */
function createKeyFrameMuxer(format: StreamFormat, minIntervalMs: number): LiveMuxer {
  const collector = new KeyFrameCollector(format.video.codec)
  let dueMs = Number.NEGATIVE_INFINITY
  return {
    init: new Uint8Array(),
    push(frame) {
      if (frame.kind !== 'video') return []
      const data = collector.push(frame)
      if (!data || frame.wallMs < dueMs) return []
      dueMs = frame.wallMs + minIntervalMs
      return [{ kind: 'media', isKey: true, wallMs: frame.wallMs, durationMs: 0, data: data.slice(), format }]
    },
    flush: () => [],
  }
}

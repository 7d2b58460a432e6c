// Which muxer makes the pieces of a live format; the two that need no file of their own.

import type { StreamFormat } from '../media/frame.ts'
import { writeInitSegment } from '../media/mp4/init-segment.ts'
import { TsWriter } from '../media/mpegts/ts-writer.ts'
import { FrameFragmentMuxer } from './frame-fragment-muxer.ts'
import { GroupFragmentMuxer } from './group-fragment-muxer.ts'
import type { LiveMuxer } from './live-muxer.ts'
import type { LiveFormat } from './live-piece.ts'

/** Throws 'invalid' when the format cannot carry the codecs. */
export function createLiveMuxer(format: LiveFormat, stream: StreamFormat, minIntervalMs: number): LiveMuxer {
  switch (format) {
    case 'mp4':
      return new FrameFragmentMuxer(writeInitSegment(stream), stream)
    case 'hls':
      return new GroupFragmentMuxer(writeInitSegment(stream), stream)
    case 'mpegts':
      return createTsMuxer(stream)
    case 'keyframes':
      return createKeyFrameMuxer(stream, minIntervalMs)
  }
}

function createTsMuxer(stream: StreamFormat): LiveMuxer {
  const writer = new TsWriter(stream)
  return {
    init: new Uint8Array(),
    push(frame) {
      const data = writer.writeFrame(frame)
      if (data.length === 0) return undefined
      const isKey = frame.kind === 'video' && frame.isKey
      return { kind: 'media', isKey, wallMs: frame.wallMs, durationMs: 0, data }
    },
    flush: () => undefined,
  }
}

/** Sends at most one key frame per `minIntervalMs` of the camera's time. */
function createKeyFrameMuxer(format: StreamFormat, minIntervalMs: number): LiveMuxer {
  let dueMs = Number.NEGATIVE_INFINITY
  return {
    init: new Uint8Array(),
    push(frame) {
      if (frame.kind !== 'video' || !frame.isKey || frame.wallMs < dueMs) return undefined
      dueMs = frame.wallMs + minIntervalMs
      return { kind: 'media', isKey: true, wallMs: frame.wallMs, durationMs: 0, data: frame.data.slice(), format }
    },
    flush: () => undefined,
  }
}

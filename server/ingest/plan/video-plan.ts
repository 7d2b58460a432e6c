// Which video track of a session description we take, and what must be known of it before its first packet.

import type { VideoCodec } from '../../media/frame.ts'
import type { FrameMemoryPool } from '../../media/frame-memory.ts'
import { h264Codec } from '../../media/h264/h264-codec.ts'
import { h265Codec } from '../../media/h265/h265-codec.ts'
import { JpegDepacketizer } from '../../media/jpeg/depacketizer.ts'
import { NalDepacketizer } from '../../media/nal/nal-depacketizer.ts'
import type { Sdp, SdpMedia, SdpPayload } from '../../media/sdp/sdp.ts'
import type { VideoDepacketizer, VideoSink } from '../../media/video-depacketizer.ts'
import { CameraError } from '../network/camera-error.ts'

export type VideoPlan = {
  readonly codec: VideoCodec
  readonly payloadType: number
  readonly control: string | undefined
  /** NAL units told in the description; may be empty. */
  readonly parameterSets: readonly Uint8Array[]
  /** Of JPEG pictures that are too large for their own packets to tell. */
  readonly size: { readonly width: number; readonly height: number } | undefined
}

/** Names in `a=rtpmap` (RFC 6184 8.2.1, 7798 7.1, 3551 5); HEVC is what some cameras write. */
const codecs: ReadonlyMap<string, VideoCodec> = new Map([
  ['H264', 'h264'],
  ['H265', 'h265'],
  ['HEVC', 'h265'],
  ['JPEG', 'mjpeg'],
])

/** The first video there is a depacketizer for. @throws CameraError when there is none, naming what there is */
export function planVideo(sdp: Sdp): VideoPlan {
  const video = sdp.media.filter((media) => media.type === 'video')
  for (const media of video) {
    for (const payload of media.payloads) {
      const codec = codecs.get(payload.encoding.toUpperCase())
      if (codec) return planCodec(codec, media, payload)
    }
  }
  if (video.length > 0) {
    // As it is named in the settings of cameras.
    const offered = listEncodings(video).replace('MP4V-ES', 'MPEG-4 Visual')
    const detail = `The camera sends ${offered} video, which is not supported: set this stream to H.264, H.265 or MJPEG in the camera.`
    throw new CameraError('no_frames', detail, { trouble: 'unsupported' })
  }
  const others = sdp.media.length > 0 ? `, only ${sdp.media.map(({ type }) => type.slice(0, 20)).join(', ')}` : ''
  const detail = `The camera offers no video at this URL${others}: check the path and that video is switched on in the camera.`
  throw new CameraError('no_frames', detail, { trouble: 'no_video' })
}

export type VideoDepacketizerOptions = {
  /** Told of each parameter set of the plan that can't be read. */
  readonly onBadSet: () => void
  /** Where pictures lie; without, memory is used once. */
  readonly pool?: FrameMemoryPool | undefined
  /** See `NalDepacketizerOptions`. */
  readonly keepsDamaged?: (() => boolean) | undefined
}

/** For the packets of the plan's track; it knows the parameter sets of the plan. */
export function createVideoDepacketizer(
  plan: VideoPlan,
  sink: VideoSink,
  { onBadSet, pool, keepsDamaged }: VideoDepacketizerOptions,
): VideoDepacketizer {
  if (plan.codec === 'mjpeg') return new JpegDepacketizer(sink, { size: plan.size })
  const depacketizer = new NalDepacketizer(plan.codec === 'h265' ? h265Codec : h264Codec, sink, { pool, keepsDamaged })
  for (const set of plan.parameterSets) {
    try {
      depacketizer.takeParameterSet(set)
    } catch {
      // The stream itself repeats them in most cases; without, the missing key frame is reported.
      onBadSet()
    }
  }
  return depacketizer
}

/** What the media are coded in, for a sentence. */
export function listEncodings(media: readonly SdpMedia[]): string {
  const names = media.flatMap(({ payloads }) => payloads.map(({ encoding }) => encoding.slice(0, 20) || 'unknown'))
  return [...new Set(names)].slice(0, 5).join(', ') || 'unknown'
}

function planCodec(codec: VideoCodec, media: SdpMedia, { payloadType, parameters }: SdpPayload): VideoPlan {
  const isInterleaved = parameters.get('packetization-mode') === '2' || Number(parameters.get('sprop-max-don-diff')) > 0
  if (isInterleaved) {
    const detail =
      'The camera sends its packets in interleaved order, which is not supported: switch that off in the camera.'
    throw new CameraError('no_frames', detail, { trouble: 'unsupported' })
  }
  const names = codec === 'h265' ? ['sprop-vps', 'sprop-sps', 'sprop-pps'] : ['sprop-parameter-sets']
  const sets = names.flatMap((name) => (parameters.get(name) ?? '').split(','))
  const parameterSets = sets.map((text) => new Uint8Array(Buffer.from(text, 'base64'))).filter((set) => set.length > 1)
  const [, width, height] = /^(\d{1,5}),(\d{1,5})$/.exec(parameters.get('x-dimensions') ?? '') ?? []
  const size = width && height ? { width: Number(width), height: Number(height) } : undefined
  return { codec, payloadType, control: media.control, parameterSets, size }
}

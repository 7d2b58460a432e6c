// Chooses the video track of a session description, and reads what must be known before its first packet.

import type { Deviation } from '../../base/deviation.ts'
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
  /** NAL units from the description; may be empty. */
  readonly parameterSets: readonly Uint8Array[]
  /** The size of JPEG frames that is too large for the fields of their packets. */
  readonly size: { readonly width: number; readonly height: number } | undefined
}

/** Names in `a=rtpmap` (RFC 6184 8.2.1, 7798 7.1, 3551 5). Some cameras write HEVC. */
const codecs: ReadonlyMap<string, VideoCodec> = new Map([
  ['H264', 'h264'],
  ['H265', 'h265'],
  ['HEVC', 'h265'],
  ['JPEG', 'mjpeg'],
])

/** Plans the first supported video track. @throws CameraError if there is none; the message names what is offered */
export function planVideo(sdp: Sdp): VideoPlan {
  const video = sdp.media.filter((media) => media.type === 'video')
  const offered = video.filter((media) => !isEncrypted(media))
  for (const media of offered) {
    for (const payload of media.payloads) {
      const codec = codecs.get(payload.encoding.toUpperCase())
      if (codec) return planCodec(codec, media, payload)
    }
  }
  if (offered.length === 0 && video.length > 0) {
    const detail = 'The stream is encrypted (SRTP), which is not supported: disable SRTP in the camera.'
    throw new CameraError('no_frames', detail, { problem: 'unsupported' })
  }
  if (video.length > 0) {
    // The name in the settings of cameras.
    const encodings = listEncodings(offered).replace('MP4V-ES', 'MPEG-4 Visual')
    const detail = `The camera sends ${encodings} video, which is not supported: set this stream to H.264, H.265 or MJPEG in the camera.`
    throw new CameraError('no_frames', detail, { problem: 'unsupported' })
  }
  const others = sdp.media.length > 0 ? `, only ${sdp.media.map(({ type }) => type.slice(0, 20)).join(', ')}` : ''
  const detail = `The camera offers no video at this URL${others}: check the path, and enable video in the camera.`
  throw new CameraError('no_frames', detail, { problem: 'no_video' })
}

export type VideoDepacketizerOptions = {
  /** Called for each parameter set of the plan that cannot be read. */
  readonly onBadSet: () => void
  /** The memory of frames. Without it, memory is not reused. */
  readonly pool?: FrameMemoryPool | undefined
  /** See `NalDepacketizerOptions`. */
  readonly keepsDamaged?: (() => boolean) | undefined
  readonly onDeviation?: ((deviation: Deviation) => void) | undefined
}

/** Creates a depacketizer for the track of the plan. It already has the parameter sets of the plan. */
export function createVideoDepacketizer(
  plan: VideoPlan,
  sink: VideoSink,
  { onBadSet, pool, keepsDamaged, onDeviation }: VideoDepacketizerOptions,
): VideoDepacketizer {
  if (plan.codec === 'mjpeg') return new JpegDepacketizer(sink, { size: plan.size })
  const depacketizer = new NalDepacketizer(plan.codec === 'h265' ? h265Codec : h264Codec, sink, {
    pool,
    keepsDamaged,
    onDeviation,
  })
  for (const set of plan.parameterSets) {
    try {
      depacketizer.takeParameterSet(set)
    } catch {
      // In most cases the stream repeats the parameter sets. Otherwise the missing key frame is reported.
      onBadSet()
    }
  }
  return depacketizer
}

/** `RTP/SAVP` (RFC 3711) and `RTP/SAVPF`, also over TCP, TLS and UDP. */
export function isEncrypted({ protocol }: SdpMedia): boolean {
  return /\bSAVPF?\b/i.test(protocol)
}

/** Lists the encodings of the media for a message. */
export function listEncodings(media: readonly SdpMedia[]): string {
  const names = media.flatMap(({ payloads }) => payloads.map(({ encoding }) => encoding.slice(0, 20) || 'unknown'))
  return [...new Set(names)].slice(0, 5).join(', ') || 'unknown'
}

function planCodec(codec: VideoCodec, media: SdpMedia, { payloadType, parameters }: SdpPayload): VideoPlan {
  const isInterleaved = parameters.get('packetization-mode') === '2' || Number(parameters.get('sprop-max-don-diff')) > 0
  if (isInterleaved) {
    const detail =
      'The camera sends its packets in interleaved order, which is not supported: disable interleaving in the camera.'
    throw new CameraError('no_frames', detail, { problem: 'unsupported' })
  }
  const names = codec === 'h265' ? ['sprop-vps', 'sprop-sps', 'sprop-pps'] : ['sprop-parameter-sets']
  const sets = names.flatMap((name) => (parameters.get(name) ?? '').split(','))
  const parameterSets = sets.map((text) => new Uint8Array(Buffer.from(text, 'base64'))).filter((set) => set.length > 1)
  const [, width, height] = /^(\d{1,5}),(\d{1,5})$/.exec(parameters.get('x-dimensions') ?? '') ?? []
  const size = width && height ? { width: Number(width), height: Number(height) } : undefined
  return { codec, payloadType, control: media.control, parameterSets, size }
}

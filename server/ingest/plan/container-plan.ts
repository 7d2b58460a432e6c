// Chooses the tracks of a container, as stream-plan.ts does for RTSP, and defines how its access units are split into
// NAL units.

import type { ContainerAudio, ContainerTracks, ContainerVideo } from '../../media/container/container-stream.ts'
import type { AudioFormat } from '../../media/frame.ts'
import { parseAvcConfig } from '../../media/h264/avc-config.ts'
import { listHevcConfigNalUnits } from '../../media/h265/hevc-config.ts'
import { listAnnexBNalUnits, listSizedNalUnits } from '../../media/nal/nal-units.ts'
import { opusSampleRate, writeOpusConfig } from '../../media/opus/opus-packet.ts'
import { createTranscodedFormat } from '../../media/telephony/audio-transcoder.ts'
import { CameraError } from '../network/camera-error.ts'
import { type AudioPlan, createAacFormat, type PlannedAudio } from './audio-plan.ts'
import type { StreamPlan } from './stream-plan.ts'
import type { VideoPlan } from './video-plan.ts'

export type ContainerPlan = StreamPlan & {
  /** Returns the NAL units of an access unit as views, or none if it is truncated. */
  readonly listNalUnits: (data: Uint8Array) => Uint8Array[]
}

/** The RTP fields of a plan, which do not apply to containers. */
const noRtp = { payloadType: -1, control: undefined }

/** @throws CameraError if the video codec is not supported; the message names it */
export function planContainer({ video, audio }: ContainerTracks): ContainerPlan {
  return { ...planVideo(video), ...planAudio(audio) }
}

function planVideo({ codec, config }: ContainerVideo): Pick<ContainerPlan, 'video' | 'listNalUnits'> {
  if (codec !== 'h264' && codec !== 'hevc') throw describeCodec(codec)
  // A configuration record begins with version 1, and parameter sets of a byte stream begin with a start code.
  const isRecord = config[0] === 1
  const lengthBytes = ((codec === 'h264' ? config[4] : config[21]) ?? 3) & 3
  const plan: VideoPlan = {
    ...noRtp,
    codec: codec === 'h264' ? 'h264' : 'h265',
    parameterSets: isRecord ? listRecordSets(codec, config) : listAnnexBNalUnits(config),
    size: undefined,
  }
  return {
    video: plan,
    listNalUnits: isRecord ? (data) => listWhole(data, lengthBytes + 1) : listAnnexBNalUnits,
  }
}

function listWhole(data: Uint8Array, lengthBytes: number): Uint8Array[] {
  const units = listSizedNalUnits(data, lengthBytes)
  const bytes = units.reduce((sum, { length }) => sum + lengthBytes + length, 0)
  return bytes === data.length ? units : []
}

/** Returns none if the record cannot be read, because the stream may repeat the parameter sets. */
function listRecordSets(codec: 'h264' | 'hevc', record: Uint8Array): readonly Uint8Array[] {
  try {
    if (codec === 'hevc') return listHevcConfigNalUnits(record)
    const { sps, pps } = parseAvcConfig(record)
    return [...sps, ...pps]
  } catch {
    return []
  }
}

/** Names that owners find in the settings of their cameras, for codecs where FFmpeg's names differ. */
const codecNames: ReadonlyMap<string, string> = new Map([
  ['mpeg4', 'MPEG-4 Visual'],
  ['mpeg1video', 'MPEG-1'],
  ['mpeg2video', 'MPEG-2'],
  ['h263', 'H.263'],
  ['flv1', 'Sorenson H.263'],
  ['mjpeg', 'MJPEG in a container'],
  ['av1', 'AV1'],
  ['vp8', 'VP8'],
  ['vp9', 'VP9'],
])

function describeCodec(codec: string): CameraError {
  const name = codecNames.get(codec) ?? codec
  const detail = `The camera sends ${name} video, which is not supported: set this stream to H.264 or H.265 in the camera, or enter the URL of its MJPEG stream.`
  return new CameraError('no_frames', detail, { problem: 'unsupported' })
}

function planAudio(audio: ContainerAudio | undefined): PlannedAudio {
  if (!audio) return { audio: undefined, audioProblem: undefined }
  try {
    const plan = planCoding(audio)
    if (plan)
      return { audio: { ...noRtp, clockRate: 90_000, sharesVideoClock: true, ...plan }, audioProblem: undefined }
    return { audio: undefined, audioProblem: `${audio.codec} audio is not supported` }
  } catch (error) {
    return { audio: undefined, audioProblem: error instanceof Error ? error.message : String(error) }
  }
}

function planCoding({
  codec,
  config,
  sampleRate,
  channels,
}: ContainerAudio): Pick<AudioPlan, 'coding' | 'format'> | undefined {
  if (codec === 'aac') return { coding: { kind: 'block' }, format: createAacFormat(config) }
  if (codec === 'opus') {
    const count = channels === 1 ? 1 : 2
    const format: AudioFormat = {
      ...{ codec, codecString: codec, sampleRate: opusSampleRate, channels: count },
      config: writeOpusConfig(count),
    }
    return { coding: { kind: 'opus' }, format }
  }
  const coding = codec === 'pcm_mulaw' ? 'pcmu' : codec === 'pcm_alaw' ? 'pcma' : undefined
  if (!coding || channels !== 1 || (sampleRate !== 8000 && sampleRate !== 16_000)) return undefined
  return { coding: { kind: 'telephone', source: { coding, sampleRate } }, format: createTranscodedFormat() }
}

// Which tracks of a container we take, as stream-plan.ts does for what RTSP describes; and how its access units are cut
// into NAL units.

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
  /** The NAL units of an access unit, views; none when it is cut. */
  readonly listNalUnits: (data: Uint8Array) => Uint8Array[]
}

/** Of RTP, which is not there. */
const noRtp = { payloadType: -1, control: undefined }

/** @throws CameraError when its pictures are coded otherwise, naming how */
export function planContainer({ video, audio }: ContainerTracks): ContainerPlan {
  return { ...planVideo(video), ...planAudio(audio) }
}

function planVideo({ codec, config }: ContainerVideo): Pick<ContainerPlan, 'video' | 'listNalUnits'> {
  if (codec !== 'h264' && codec !== 'hevc') throw describeCodec(codec)
  // A configuration record begins with its version; in a byte stream, start codes do.
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

/** None of a record that can't be read: the stream may repeat them. */
function listRecordSets(codec: 'h264' | 'hevc', record: Uint8Array): readonly Uint8Array[] {
  try {
    if (codec === 'hevc') return listHevcConfigNalUnits(record)
    const { sps, pps } = parseAvcConfig(record)
    return [...sps, ...pps]
  } catch {
    return []
  }
}

/** The names owners find in their cameras' settings, where FFmpeg's differ. */
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
  const detail = `The camera sends ${name} video, which is not supported: set this stream to H.264 or H.265 in the camera, or enter the address of its MJPEG pictures.`
  return new CameraError('no_frames', detail, { trouble: 'unsupported' })
}

function planAudio(audio: ContainerAudio | undefined): PlannedAudio {
  if (!audio) return { audio: undefined, audioProblem: undefined }
  try {
    const plan = planCoding(audio)
    if (plan) return { audio: { ...noRtp, clockRate: 90_000, isOneClock: true, ...plan }, audioProblem: undefined }
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

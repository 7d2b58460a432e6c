// Determines the tracks of a download. The footage of a range may have been recorded in several formats; formats that
// one decoder can decode in sequence share a track.
//
// All video of one codec shares a track, whatever its size. If the sizes differ, the parameter sets are repeated before
// each key frame. Every other video codec and every audio configuration has its own track.

import { type OpenRecording, readExactly } from '../archive/recording-file.ts'
import { parseAvcConfig } from '../media/h264/avc-config.ts'
import { listHevcConfigNalUnits } from '../media/h265/hevc-config.ts'
import { findAudioConfig, findVideoConfig } from '../media/mp4/describe-init.ts'
import { audioTrackId, videoTrackId } from '../media/mp4/init-segment.ts'
import { parseTimescales } from '../media/mp4/timescale.ts'
import { createSilence, type SilentBlock } from '../media/telephony/silence.ts'
import type { Segment } from '../model/segment.ts'

/** A track of a recorded file. */
export type SourceTrack = {
  /** Tracks with equal keys share a track of the download. */
  readonly key: string
  /** Track id in the file. */
  readonly sourceId: 1 | 2
  readonly timescale: number
  /** The initialization section of the file. */
  readonly init: Uint8Array
  /** Inserted before each key frame; undefined when the initialization section has the parameter sets. */
  readonly parameterSets: Uint8Array | undefined
  /** For audio tracks: silence for the times without recorded audio. */
  readonly silence: SilentBlock | undefined
}

type VideoConfig = { readonly key: string; readonly sets: Uint8Array }

/** Returns the tracks by `initHash`. Throws 'corrupt', and 'not_found' when a file is gone. */
export async function readFormats(
  open: OpenRecording,
  segments: readonly Segment[],
): Promise<ReadonlyMap<string, readonly SourceTrack[]>> {
  const inits = new Map<string, Uint8Array>()
  for (const segment of segments) {
    const { initHash, initBytes } = segment
    if (inits.has(initHash)) continue
    await using file = await open(segment)
    inits.set(initHash, await readExactly(file, 0, initBytes))
  }
  const configs = new Map([...inits].map(([hash, init]) => [hash, describeVideo(init)] as const))
  const hasUniformSets = ({ key, sets }: VideoConfig) =>
    [...configs.values()].every((other) => other.key !== key || Buffer.compare(other.sets, sets) === 0)
  return new Map(
    [...inits].map(([hash, init]) => {
      const timescales = parseTimescales(init)
      const config = configs.get(hash)!
      const video: SourceTrack = {
        ...{ key: config.key, sourceId: videoTrackId, timescale: timescales.get(videoTrackId) ?? 90_000, init },
        parameterSets: hasUniformSets(config) ? undefined : config.sets,
        silence: undefined,
      }
      const audio = describeAudio(init, timescales.get(audioTrackId))
      return [hash, audio ? [video, audio] : [video]]
    }),
  )
}

function describeVideo(init: Uint8Array): VideoConfig {
  const { codec, config } = findVideoConfig(init)
  if (codec === 'mjpeg') return { key: codec, sets: new Uint8Array() }
  const avc = codec === 'h264' ? parseAvcConfig(config) : undefined
  const units = avc ? [...avc.sps, ...avc.pps] : listHevcConfigNalUnits(config)
  const sets = units.flatMap((unit) => {
    const sized = Buffer.alloc(4 + unit.length)
    sized.writeUInt32BE(unit.length)
    sized.set(unit, 4)
    return [sized]
  })
  return { key: codec, sets: Buffer.concat(sets) }
}

function describeAudio(init: Uint8Array, timescale: number | undefined): SourceTrack | undefined {
  const audio = findAudioConfig(init)
  if (!audio || timescale === undefined) return undefined
  const { codec, config } = audio
  const [silence] = createSilence({ codec, config, sampleRate: timescale, channels: 1, codecString: codec }) ?? []
  const key = `${codec} ${timescale} ${Buffer.from(config).toString('hex')}`
  return { key, sourceId: audioTrackId, timescale, init, parameterSets: undefined, silence }
}

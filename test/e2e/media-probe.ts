// ffprobe and ffmpeg as third-party players: properties of a file or URL as numbers that a test can check.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

export type ProbedPacket = { readonly ptsSeconds: number; readonly dtsSeconds: number; readonly isKey: boolean }

export type ProbedStream = {
  readonly codec: string
  readonly width: number | undefined
  readonly height: number | undefined
  readonly sampleRate: number | undefined
  readonly packets: readonly ProbedPacket[]
}

export type Probe = {
  readonly video: ProbedStream | undefined
  readonly audio: ProbedStream | undefined
  /** Complaints of ffprobe; empty for a clean stream. */
  readonly complaints: string
}

/**
 * Printed for every live playlist of fragmented MP4 that is reloaded: ffmpeg reads the initialization section again.
 */
const harmless = /^.*Found duplicated MOOV Atom\. Skipped it\n?/gm

/** Use a connection per segment: ffmpeg complains if a connection that it left idle has been closed. */
function inputOptions(source: string): string[] {
  return source.split('?', 1)[0]!.endsWith('.m3u8') ? ['-http_persistent', '0'] : []
}

export type ProbeLimit = { readonly seconds?: number; readonly packets?: number }

/** Reads `source` (a file or an https URL) up to the limit. Rejects if ffprobe cannot open it. */
export async function probe(source: string, { seconds, packets: maxPackets }: ProbeLimit = {}): Promise<Probe> {
  const args = ['-v', 'warning', '-print_format', 'json', '-show_streams', '-show_packets']
  if (seconds !== undefined) args.push('-read_intervals', `%+${seconds}`)
  if (maxPackets !== undefined) args.push('-read_intervals', `%+#${maxPackets}`)
  const { stdout, stderr } = await promisify(execFile)('ffprobe', [...args, ...inputOptions(source), source], {
    maxBuffer: 64 * 1024 * 1024,
    timeout: 90_000,
  })
  const { streams = [], packets = [] } = JSON.parse(stdout) as {
    streams?: {
      index: number
      codec_type: string
      codec_name: string
      width?: number
      height?: number
      sample_rate?: string
    }[]
    packets?: { stream_index: number; pts_time?: string; dts_time?: string; flags: string }[]
  }
  const find = (type: string): ProbedStream | undefined => {
    const stream = streams.find(({ codec_type }) => codec_type === type)
    return (
      stream && {
        codec: stream.codec_name,
        width: stream.width,
        height: stream.height,
        sampleRate: stream.sample_rate === undefined ? undefined : Number(stream.sample_rate),
        packets: packets
          .filter(({ stream_index }) => stream_index === stream.index)
          .map(({ pts_time, dts_time, flags }) => ({
            ptsSeconds: Number(pts_time),
            dtsSeconds: Number(dts_time ?? pts_time),
            isKey: flags.includes('K'),
          })),
      }
    )
  }
  return { video: find('video'), audio: find('audio'), complaints: stderr.replaceAll(harmless, '').trim() }
}

/** What ffprobe says of frames that are far apart is no fault where frames have the time at which they arrived. */
export function withoutDiscontinuities(complaints: string): string {
  return complaints.replaceAll(/^.*DTS discontinuity.*\n?/gm, '').trim()
}

/** Decodes everything (at most `seconds`) and throws with ffmpeg's output if anything is wrong. */
export async function decode(source: string, { seconds }: { seconds?: number } = {}): Promise<void> {
  const limit = seconds === undefined ? [] : ['-t', String(seconds)]
  const { stderr } = await promisify(execFile)(
    'ffmpeg',
    // Keep timestamps instead of rounding to a frame rate: frames a millisecond apart are not duplicates.
    [
      '-v',
      'error',
      '-nostdin',
      ...inputOptions(source),
      '-i',
      source,
      ...limit,
      '-fps_mode',
      'passthrough',
      '-enc_time_base:v',
      '1:90000',
    ].concat(['-f', 'null', '-']),
    {
      timeout: 90_000,
    },
  )
  if (stderr.trim() !== '') throw new Error(`ffmpeg on ${source.split('?', 1)[0]}: ${stderr}`)
}

/** Throws unless decode times increase strictly, with each step below `maxStepSeconds`. */
export function checkIncreasing({ packets }: ProbedStream, maxStepSeconds: number): void {
  for (let i = 1; i < packets.length; i++) {
    const step = packets[i]!.dtsSeconds - packets[i - 1]!.dtsSeconds
    if (!(step > 0 && step <= maxStepSeconds)) {
      throw new Error(
        `packet ${i} of ${packets.length}: decode time moves by ${step} s, expected (0, ${maxStepSeconds}]`,
      )
    }
  }
}

/**
 * Throws unless every frame has its own presentation time, at most `maxStepSeconds` apart and not before its decode
 * time.
 */
export function checkShown({ packets }: ProbedStream, maxStepSeconds: number): void {
  const early = packets.find(({ ptsSeconds, dtsSeconds }) => ptsSeconds < dtsSeconds)
  if (early) throw new Error(`a frame is shown at ${early.ptsSeconds} s and decoded at ${early.dtsSeconds} s`)
  const times = packets.map(({ ptsSeconds }) => ptsSeconds).sort((a, b) => a - b)
  for (const [i, time] of times.slice(1).entries()) {
    const step = time - times[i]!
    if (!(step > 0 && step <= maxStepSeconds)) {
      throw new Error(`frames ${step} s apart at ${time} s, expected (0, ${maxStepSeconds}]`)
    }
  }
}

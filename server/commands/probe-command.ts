// nightjar camera probe: connects to a camera URL from this machine. It needs neither a server nor data.

import { writeFile } from 'node:fs/promises'
import { writeDetection } from '../api/answers/detection.ts'
import { systemClock } from '../base/clock.ts'
import { createLogger } from '../base/log.ts'
import type { Isolation } from '../decoder/isolation/isolation.ts'
import type { DetectedStream } from '../ingest/detection/detect-stream.ts'
import { parseProbeUrl } from '../model/camera-url.ts'
import type { Command } from './command.ts'
import { serverOptions } from './help.ts'
import { openProbeContext } from './open-probe-context.ts'
import { cameraPasswordOption, readCameraUrl } from './secret-input.ts'

type Detection = ReturnType<typeof writeDetection>

export const probeCommand: Command = {
  name: 'camera probe',
  summary:
    'Probe a camera URL: show codec, size, rates and audio, or what is wrong. With a host instead, its stream is searched for.',
  positionals: ['URL'],
  options: {
    ...cameraPasswordOption,
    snapshot: { placeholder: 'FILE', description: 'Write a snapshot to this file, as a JPEG.' },
    'allow-loopback-cameras': serverOptions['allow-loopback-cameras']!,
  },
  async run(call) {
    const { config, options, positionals } = call
    const source = await readCameraUrl(call, probeCommand, positionals[0]!, parseProbeUrl)
    const { url, username, password, isHostAlone } = source
    const look = await openProbeContext(config)
    const { detectStream } = await import('../ingest/detection/detect-stream.ts')
    const { findStream } = await import('../ingest/detection/find-stream.ts')
    const { ProcessContainerReader } = await import('../decoder/container/process-container-reader.ts')
    const { SharedReads } = await import('../ingest/network/shared-reads.ts')
    const { ConnectLimiter } = await import('../ingest/network/connect-limiter.ts')
    const { openIsolation } = await import('../decoder/isolation/open-isolation.ts')
    const isolation = await openIsolation({ mode: config.isolation })
    const stream = await (isHostAlone ? findStream : detectStream)({
      context: {
        ...look,
        connectLimiter: new ConnectLimiter(1),
        reads: new SharedReads(),
        containers: new ProcessContainerReader({ isolation }),
      },
      target: {
        url,
        username: username ?? undefined,
        password: password ?? undefined,
        depth: 'stream',
        canSeeProblems: true,
      },
      signal: look.signal,
    })
    const file = options.snapshot
    const saved = file === undefined ? undefined : await saveSnapshot(stream, file, isolation)
    const { snapshot: _, ...found } = writeDetection(url, { stream, snapshot: undefined })
    const lines = [describeDetection(found), ...(saved === undefined ? [] : [saved.text])]
    return {
      json: { ...found, ...(saved && { snapshot_file: saved.file }) },
      text: lines.join('\n'),
      ...(found.problem && { isFailure: true }),
    }
  },
}

async function saveSnapshot(
  { video }: DetectedStream,
  file: string,
  isolation: Isolation,
): Promise<{ file: string | null; text: string }> {
  if (!video?.keyFrame) return { file: null, text: 'Snapshot:   no key frame was received.' }
  const { Decoder } = await import('../decoder/decoder.ts')
  await using decoder = new Decoder({ log: createLogger('silent'), clock: systemClock, isolation })
  const { config, data } = video.keyFrame
  const [jpeg] = await decoder.decode({ codec: video.codec, config, data, sizes: [{}] })
  await writeFile(file, jpeg!)
  return { file, text: `Snapshot:   ${file}` }
}

/** What was found at a camera URL, in lines. */
export function describeDetection({
  url,
  transport,
  video,
  audio,
  audio_problem,
  problem,
}: Omit<Detection, 'snapshot'>): string {
  const rows: [string, string | null][] = [
    ['Address', url],
    ['Video', video && describeVideo(video)],
    ['Key frames', video?.key_frame_interval ? `every ${video.key_frame_interval} s` : null],
    ['Bit rate', video?.bit_rate ? `${(video.bit_rate / 1e6).toFixed(2)} Mbit/s` : null],
    ['Audio', audio ? `${audio.codec}, ${audio.sample_rate} Hz, ${describeChannels(audio.channels)}` : audio_problem],
    ['Transport', transport && transportNames[transport]],
    ['Problem', problem && `${problem.detail} (${problem.code})`],
  ]
  const lines = rows.filter(([, value]) => value).map(([name, value]) => `${`${name}:`.padEnd(12)}${value}`)
  const suggestions = problem?.suggestions ?? []
  const width = Math.max(...suggestions.map(({ maker }) => maker.length)) + 2
  const usual = suggestions.map((each) => `  ${each.maker.padEnd(width)}${each.url}`)
  return [...lines, ...(usual.length > 0 ? ['Usual addresses at this host:', ...usual] : [])].join('\n')
}

function describeVideo({ type, codec, width, height, frame_rate }: NonNullable<Detection['video']>): string {
  const size = width === null ? '' : `, ${width} × ${height}`
  const rate = frame_rate === null ? '' : `, ${frame_rate} frames/s`
  return `${type}${codec === null ? '' : ` (${codec})`}${size}${rate}`
}

function describeChannels(count: number): string {
  return count === 1 ? 'mono' : count === 2 ? 'stereo' : `${count} channels`
}

const transportNames: { readonly [name in NonNullable<Detection['transport']>]: string } = {
  rtsp_tcp: 'RTSP over TCP',
  rtsp_udp: 'RTSP over UDP',
  http_stream: 'HTTP, one stream',
  http_picture: 'HTTP, one image at a time',
}

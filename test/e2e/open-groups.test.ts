// Open groups of x264 are closed for players that can start at any of them; open groups of x265 are left to the
// decoder. FFmpeg decodes them, aborting at the first error as Chromium's decoder does; every frame must match a
// decoder of the whole stream.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { findMoof } from '../../server/archive/recording-file.ts'
import { createLiveMuxer } from '../../server/live/create-live-muxer.ts'
import { minSegmentMs } from '../../server/live/live-chunk.ts'
import { PartRhythm } from '../../server/live/part-rhythm.ts'
import type { Frame, StreamFormat, VideoFormat } from '../../server/media/frame.ts'
import { h264Codec } from '../../server/media/h264/h264-codec.ts'
import { nalType, nalTypeOf } from '../../server/media/h264/nal-unit.ts'
import { h265Codec } from '../../server/media/h265/h265-codec.ts'
import { hevcNalType, hevcNalTypeOf } from '../../server/media/h265/nal-unit.ts'
import { writeInitSegment } from '../../server/media/mp4/init-segment.ts'
import { writeFragmentHead } from '../../server/media/mp4/media-fragment.ts'
import type { NalCodec } from '../../server/media/nal/nal-codec.ts'
import { NalDepacketizer } from '../../server/media/nal/nal-depacketizer.ts'
import { listAnnexBNalUnits, listLengthPrefixedNalUnits } from '../../server/media/nal/nal-units.ts'
import { FragmentCloser, findGroupStart } from '../../server/playback/fragment-closer.ts'

const run = promisify(execFile)
const frame90k = 3600

const encoders = {
  'B-frames as references': 'keyint=24:min-keyint=24:bframes=3:b-adapt=0:b-pyramid=normal:scenecut=0',
  'every key frame with frame number 0': 'keyint=48:min-keyint=48:bframes=2:b-adapt=0:b-pyramid=none:scenecut=0',
  'many references, weighted':
    'keyint=20:min-keyint=20:bframes=5:b-adapt=2:b-pyramid=normal:ref=6:weightp=2:direct=auto',
  'three slices': 'keyint=24:min-keyint=24:bframes=3:b-adapt=0:b-pyramid=normal:slices=3:ref=4',
  'no arithmetic code': 'keyint=24:min-keyint=24:bframes=3:b-adapt=0:b-pyramid=normal:cabac=0:scenecut=0',
}

type Encoder = {
  readonly codec: NalCodec
  readonly output: readonly string[]
  readonly format: string
  isSet(unit: Uint8Array): boolean
}

const x264 = (options: string): Encoder => ({
  codec: h264Codec,
  output: ['-c:v', 'libx264', '-preset', 'veryfast', '-x264-params', `open-gop=1:threads=1:${options}`],
  format: 'h264',
  isSet: (unit) => [nalType.sps, nalType.pps].some((type) => type === nalTypeOf(unit[0]!)),
})

const x265: Encoder = {
  codec: h265Codec,
  output: [
    ...['-c:v', 'libx265', '-preset', 'ultrafast', '-tag:v', 'hvc1', '-x265-params'],
    'log-level=error:pools=1:open-gop=1:keyint=24:min-keyint=24:bframes=3:b-adapt=0:scenecut=0',
  ],
  format: 'hevc',
  isSet: (unit) => [hevcNalType.vps, hevcNalType.sps, hevcNalType.pps].some((type) => type === hevcNalTypeOf(unit[0]!)),
}

type Encoded = {
  readonly format: StreamFormat
  readonly frames: readonly Frame[]
  readonly hashes: ReadonlyMap<number, string>
}

for (const [name, options] of Object.entries(encoders)) {
  test(`open groups are closed, with ${name}`, async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'nightjar-open-groups-'))
    const { format, frames, hashes } = await encode(folder.path, x264(options))
    const starts = frames.flatMap(({ isKey }, i) => (isKey ? [i] : []))
    const open = starts.filter((i) => frames[i]!.recovery === 0)
    assert.ok(open.length >= 2, `${open.length} of ${starts.length} groups are open`)
    for (const start of open.slice(0, 2)) {
      const rest = frames.slice(start)
      const expected = shown(rest).map(({ pts90k }) => hashes.get(pts90k))
      for (const [way, bytes] of [
        ['HLS', playLive('hls', format, rest)],
        ['MP4', playLive('mp4', format, rest)],
        ['recorded', playRecorded(format, rest)],
      ] as const) {
        const path = join(folder.path, 'from-here.mp4')
        await writeFile(path, bytes)
        assert.deepEqual(await decode(path), expected, `${way} from frame ${start}`)
      }
    }
  })
}

test('open H.265 groups are passed through; a new viewer misses only the leading pictures of the first group', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'nightjar-open-groups-'))
  const { format, frames, hashes } = await encode(folder.path, x265)
  const starts = frames.flatMap(({ isKey }, i) => (isKey && i > 0 ? [i] : []))
  assert.ok(frames.some(({ isLeading }) => isLeading))
  for (const [i, start] of starts.slice(0, -1).entries()) {
    const rest = frames.slice(start)
    const first = frames.slice(start, starts[i + 1])
    const all = rest.filter((frame) => !frame.isLeading || !first.includes(frame))
    const expected = all.toSorted((a, b) => a.pts90k - b.pts90k).map(({ pts90k }) => hashes.get(pts90k))
    for (const kind of ['hls', 'mp4'] as const) {
      const path = join(folder.path, 'from-here.mp4')
      await writeFile(path, playLive(kind, format, rest))
      assert.deepEqual(await decode(path), expected, `${kind} from frame ${start}`)
    }
  }
})

/** In presentation order, without frames that refer to earlier groups. */
function shown(frames: readonly Frame[]): Frame[] {
  return frames.filter(({ isLeading }) => !isLeading).toSorted((a, b) => a.pts90k - b.pts90k)
}

function playLive(kind: 'hls' | 'mp4', format: StreamFormat, frames: readonly Frame[]): Uint8Array {
  const muxer = createLiveMuxer(kind, format, {
    minIntervalMs: 0,
    hasAudio: false,
    rhythm: new PartRhythm(minSegmentMs),
  })
  const chunks = [...frames.flatMap((frame) => muxer.push(frame)), ...muxer.flush()]
  return Buffer.concat([muxer.init, ...chunks.flatMap((chunk) => (chunk.kind === 'media' ? [chunk.data] : []))])
}

/** As the recorder writes it, in fragments of at most half a second, and as playback delivers it. */
function playRecorded(format: StreamFormat, frames: readonly Frame[]): Uint8Array {
  const init = writeInitSegment(format)
  const closer = FragmentCloser.of(init)!
  const parts: Uint8Array[] = [init]
  for (let at = 0, sequence = 1; at < frames.length; sequence++) {
    const next = frames.findIndex((frame, i) => i > at && (frame.isKey || i - at === 12))
    const end = next < 0 ? frames.length : next
    const samples = frames.slice(at, end).map((frame, i) => ({
      ...frame,
      duration: (frames[at + i + 1]?.dts90k ?? frame.dts90k + frame90k) - frame.dts90k,
      compositionOffset: frame.pts90k - frame.dts90k,
    }))
    const head = writeFragmentHead(sequence, [{ trackId: 1, baseDecodeTime: samples[0]!.dts90k, samples }])
    const fragment = Buffer.concat([head, ...samples.map(({ data }) => data)])
    const moof = findMoof(fragment)
    const { isKey } = frames[at]!
    if (isKey) assert.equal(findGroupStart(fragment.subarray(moof.start, moof.end)), 'open')
    const closed = closer.close(fragment, moof, isKey)
    assert.equal(closed?.length, fragment.length)
    parts.push(closed)
    at = end
  }
  return Buffer.concat(parts)
}

/** Hashes of the frames in presentation order; the first complaint is an error. */
async function decode(path: string): Promise<string[]> {
  const args = ['-v', 'error', '-threads', '1', '-err_detect', 'explode', '-i', path]
  const { stdout, stderr } = await run('ffmpeg', [...args, '-fps_mode', 'passthrough', '-f', 'framemd5', '-'])
  assert.equal(stderr, '')
  return [...stdout.matchAll(/^0,.*, ([0-9a-f]{32})$/gm)].map(([, hash]) => hash!)
}

async function encode(folder: string, { codec, output, format, isSet }: Encoder): Promise<Encoded> {
  const path = join(folder, 'whole.mp4')
  const source = ['-f', 'lavfi', '-i', 'testsrc2=size=160x120:rate=25', '-frames:v', '120', '-pix_fmt', 'yuv420p']
  await run('ffmpeg', ['-v', 'error', ...source, ...output, '-video_track_timescale', '90000', path])
  const bytes = await readFile(path)
  const shownFields = ['-show_entries', 'packet=pts,dts,pos,size', '-of', 'json']
  const { stdout } = await run('ffprobe', ['-v', 'error', ...shownFields, path], { maxBuffer: 1e7 })
  const { packets } = JSON.parse(stdout) as { packets: { pts: number; dts: number; pos: string; size: string }[] }
  const annexB = await run('ffmpeg', ['-v', 'error', '-i', path, '-c', 'copy', '-frames:v', '1', '-f', format, '-'], {
    encoding: 'buffer',
  })
  let video: VideoFormat | undefined
  const frames: Frame[] = []
  let dts90k = 0
  const depacketizer = new NalDepacketizer(codec, {
    onFormat: (format) => {
      video = format
    },
    onFrame: (data, pts90k, isKey, _memory, access) => {
      frames.push({ kind: 'video', data, pts90k, dts90k, wallMs: pts90k / 90, isKey, ...access })
    },
  })
  for (const unit of listAnnexBNalUnits(annexB.stdout)) {
    if (isSet(unit)) depacketizer.takeParameterSet(unit)
  }
  // Decode times begin at 0.
  const shift90k = -packets[0]!.dts
  for (const packet of packets) {
    dts90k = packet.dts + shift90k
    const at = Number(packet.pos)
    const units = listLengthPrefixedNalUnits(bytes.subarray(at, at + Number(packet.size)))
    for (const [i, unit] of units.entries())
      depacketizer.push(unit, 0, unit.length, packet.pts + shift90k, i === units.length - 1)
  }
  assert.ok(video)
  assert.equal(frames.length, 120)
  const all = await decode(path)
  const inOrder = frames.toSorted((a, b) => a.pts90k - b.pts90k)
  const hashes = new Map(inOrder.map(({ pts90k }, i) => [pts90k, all[i]!]))
  return { format: { video, audio: undefined }, frames, hashes }
}

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { bytesOf, hevcSamples } from '../../../test/fixtures/cameras/hevc-parameter-sets.ts'
import { syntheticFormat, syntheticFrames } from '../../../test/support/media/synthetic-frames.ts'
import type { VideoFormat } from '../frame.ts'
import { writeHevcConfig } from '../h265/hevc-config.ts'
import { createJpegFormat } from '../jpeg/jpeg-header.ts'
import { writeOpusConfig } from '../opus/opus-packet.ts'
import { scanBoxes } from './box-scanner.ts'
import { describeInitSegment } from './describe-init.ts'
import { formatCodecs, writeInitSegment } from './init-segment.ts'
import { type Sample, writeFragmentHead } from './media-fragment.ts'

const ffprobe = '/usr/bin/ffprobe'
const skip = existsSync(ffprobe) ? false : `${ffprobe} is not installed`

test('the initialization section is ftyp and moov, and equal for equal formats', () => {
  const init = writeInitSegment(syntheticFormat({ audioSampleRate: 48000 }))
  const { boxes, restOffset } = scanBoxes(init)
  assert.deepEqual(
    boxes.map(({ type }) => type),
    ['ftyp', 'moov'],
  )
  assert.equal(restOffset, init.length)
  assert.deepEqual(init, writeInitSegment(syntheticFormat({ audioSampleRate: 48000 })))
  assert.notDeepEqual(init, writeInitSegment(syntheticFormat()))
})

test('codecs are listed in the order of the tracks', () => {
  assert.equal(formatCodecs(syntheticFormat({ audioSampleRate: 48000 })), 'avc1.42c01e,mp4a.40.2')
})

test('codecs and size are read back from the initialization section for every codec', () => {
  const h265 = hevcSamples.map(({ codec, vps, sps, pps, size }): VideoFormat => {
    const [width = 0, height = 0] = size.split('x').map(Number)
    const config = writeHevcConfig({ vps: [bytesOf(vps)], sps: [bytesOf(sps)], pps: [bytesOf(pps)] })
    return { codec: 'h265', width, height, config, codecString: codec }
  })
  const jpeg = createJpegFormat({ width: 640, height: 480 })
  const opus = {
    codec: 'opus',
    sampleRate: 48_000,
    channels: 2,
    config: writeOpusConfig(2),
    codecString: 'opus',
  } as const
  const { video: h264, audio: aac } = syntheticFormat({ audioSampleRate: 16000 })
  for (const video of [h264, ...h265, jpeg]) {
    for (const audio of [undefined, aac, opus]) {
      const format = { video, audio }
      const { width, height } = video
      assert.deepEqual(describeInitSegment(writeInitSegment(format)), { codecs: formatCodecs(format), width, height })
    }
  }
})

test('ffprobe reads every frame with its time', { skip }, () => {
  const video: Sample[] = []
  const audio: Sample[] = []
  for (const { kind, data, isKey } of syntheticFrames({ audioSampleRate: 48000 })) {
    if (kind === 'video') video.push({ data, isKey, duration: 3600, compositionOffset: 0 })
    else audio.push({ data, isKey, duration: 1024, compositionOffset: 0 })
    if (video.length === 50) break
  }
  const fragment = (sequence: number, v: Sample[], videoTime: number, a: Sample[], audioTime: number) => [
    writeFragmentHead(
      sequence,
      [
        { trackId: 1, baseDecodeTime: videoTime, samples: v },
        { trackId: 2, baseDecodeTime: audioTime, samples: a },
      ],
      1_800_000_000_000 + sequence * 1000,
    ),
    ...[...v, ...a].map(({ data }) => data),
  ]
  const file = Buffer.concat([
    writeInitSegment(syntheticFormat({ audioSampleRate: 48000 })),
    ...fragment(1, video.slice(0, 25), 0, audio.slice(0, 47), 0),
    ...fragment(2, video.slice(25), 90_000, audio.slice(47), 47 * 1024),
  ])
  const show = '-v warning -show_entries packet=codec_type,pts_time,flags:stream=codec_name,width,height,sample_rate'
  const output = execFileSync(ffprobe, [...show.split(' '), '-show_frames', '-of', 'json', '-i', 'pipe:0'], {
    input: file,
  })
  const { streams, packets_and_frames: items } = JSON.parse(String(output))
  assert.deepEqual(streams[0], { codec_name: 'h264', width: 64, height: 48 })
  assert.deepEqual(streams[1], { codec_name: 'aac', sample_rate: '48000' })
  type Item = { type: string; codec_type?: string; pts_time?: string; flags?: string }
  const packets = (items as Item[]).filter(({ type, codec_type }) => type === 'packet' && codec_type === 'video')
  assert.deepEqual(
    packets.map(({ pts_time }) => Number(pts_time)),
    video.map((_, i) => i / 25),
  )
  assert.equal(packets.filter(({ flags }) => flags?.startsWith('K')).length, 2)
  const decoded = (items as Item[]).filter(({ type }) => type === 'frame')
  assert.equal(decoded.length, video.length + audio.length, 'FFmpeg decodes every frame')
})

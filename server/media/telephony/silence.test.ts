import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempDisposableSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { syntheticFormat } from '../../../test/support/media/synthetic-frames.ts'
import { aacCodecString, parseAudioSpecificConfig, writeAudioSpecificConfig } from '../aac/audio-specific-config.ts'
import type { AudioFormat } from '../frame.ts'
import { writeInitSegment } from '../mp4/init-segment.ts'
import { writeFragmentHead } from '../mp4/media-fragment.ts'
import { opusPacketSamples, writeOpusConfig } from '../opus/opus-packet.ts'
import { createSilence } from './silence.ts'

function aac(config: Uint8Array): AudioFormat {
  const asc = parseAudioSpecificConfig(config)
  const { sampleRate, channels } = asc
  return { codec: 'aac', sampleRate, channels, config, codecString: aacCodecString(asc) }
}

function opus(channels: number): AudioFormat {
  return { codec: 'opus', sampleRate: 48_000, channels, config: writeOpusConfig(channels), codecString: 'opus' }
}

const formats: readonly (readonly [name: string, format: AudioFormat])[] = [
  ...[8000, 11_025, 16_000, 22_050, 32_000, 44_100, 48_000, 96_000].flatMap((sampleRate) =>
    [1, 2].map(
      (channels) =>
        [`AAC ${sampleRate} Hz × ${channels}`, aac(writeAudioSpecificConfig({ sampleRate, channels }))] as const,
    ),
  ),
  ...[3, 4, 5, 6, 8].map(
    (channels) => [`AAC × ${channels}`, aac(writeAudioSpecificConfig({ sampleRate: 48_000, channels }))] as const,
  ),
  // 960 samples per block; spectral band replication from 24 to 48 kHz; with parametric stereo.
  ['AAC with short blocks', aac(Uint8Array.of(0x11, 0x94))],
  ['HE-AAC', aac(Uint8Array.of(0x2b, 0x11, 0x88, 0x00))],
  ['HE-AAC v2', aac(Uint8Array.of(0xeb, 0x09, 0x88, 0x00))],
  ['Opus × 1', opus(1)],
  ['Opus × 2', opus(2)],
]

/** One second of silence with every block duration, as an MP4 file. */
function writeFile(audio: AudioFormat): Uint8Array {
  const silence = createSilence(audio)
  assert.ok(silence)
  const samples: { data: Uint8Array; duration: number; compositionOffset: number; isKey: boolean }[] = []
  for (let length = 0; length < audio.sampleRate; ) {
    const block = silence[samples.length % silence.length]!
    samples.push({ data: block.data, duration: block.samples, compositionOffset: 0, isKey: true })
    length += block.samples
  }
  const { video } = syntheticFormat({})
  const head = writeFragmentHead(1, [{ trackId: 2, baseDecodeTime: 0, samples }])
  return Buffer.concat([writeInitSegment({ video, audio }), head, ...samples.map(({ data }) => data)])
}

test('FFmpeg decodes silent blocks of every sample rate and layout to silence without errors', () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'nightjar-silence-'))
  for (const [i, [name, format]] of formats.entries()) {
    const path = join(folder.path, `${i}.mp4`)
    writeFileSync(path, writeFile(format))
    const command = ['-v', 'error', '-xerror', '-i', path, '-map', '0:a', '-f', 'f32le', '-']
    const decoded = execFileSync('ffmpeg', command, { stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 64e6 })
    const values = new Float32Array(decoded.buffer.slice(decoded.byteOffset, decoded.byteOffset + decoded.length))
    assert.ok(values.length >= format.sampleRate * 0.9 * format.channels, `${name}: ${values.length} values`)
    const loudest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0)
    assert.ok(loudest < 1e-4, `${name}: ${loudest}`)
  }
})

test('a silent Opus packet has its stated duration', () => {
  for (const { data, samples } of createSilence(opus(2))!) assert.equal(opusPacketSamples(data), samples)
})

test('there is no silence for AAC types with a different block syntax', () => {
  // ER AAC LD (object type 23) at 48 kHz with one channel.
  assert.equal(createSilence(aac(Uint8Array.of(0xb9, 0x88))), undefined)
})

// Tests with the real process. ffmpeg decodes the AAC and creates the G.726.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { suite, test } from 'node:test'
import fc from 'fast-check'
import { until } from '../../../test/support/until.ts'
import { systemClock } from '../../base/clock.ts'
import { AppError } from '../../base/error.ts'
import { silentLogger } from '../../base/log.ts'
import { writeAdtsHeader } from '../../media/mpegts/adts.ts'
import { type AudioSource, chunkSamples, createTranscodedFormat } from '../../media/telephony/audio-transcoder.ts'
import { aLawTable, muLawTable } from '../../media/telephony/g711.ts'
import { bitsPerSample, type TelephoneCoding, telephoneCodings } from '../../media/telephony/telephone-coding.ts'
import { noIsolation } from '../isolation/isolation.ts'
import { openIsolation } from '../isolation/open-isolation.ts'
import { MessageReader } from '../message-stream.ts'
import {
  type AudioReply,
  type AudioRequest,
  parseAudioReply,
  parseAudioRequest,
  writeAudioReply,
  writeAudioRequest,
} from './audio-protocol.ts'
import { ProcessAudioTranscoder, type ProcessTranscoderOptions } from './process-transcoder.ts'

const skip = spawnSync('ffmpeg', ['-version']).status === 0 ? false : 'ffmpeg is not installed'
const outRate = 16_000

const isolation = await openIsolation({ mode: 'auto' })

const openTranscoder = (options: Partial<ProcessTranscoderOptions> = {}) =>
  new ProcessAudioTranscoder({ clock: systemClock, log: silentLogger, isolation, ...options })

/** Silence, then from `onset` on a 1 kHz tone at half of full scale. */
function createTone(count: number, rate: number, onset: number): Float32Array {
  return Float32Array.from({ length: count }, (_, i) =>
    i < onset * rate ? 0 : 0.5 * Math.sin((2 * Math.PI * 1000 * i) / rate),
  )
}

function encode(coding: TelephoneCoding, samples: Float32Array): Uint8Array {
  if (coding === 'pcmu' || coding === 'pcma') {
    const table = [...(coding === 'pcmu' ? muLawTable : aLawTable)]
    const nearest = (value: number) =>
      table.reduce((best, each, code) => (Math.abs(each - value) < Math.abs(table[best]! - value) ? code : best), 0)
    return Uint8Array.from(samples, nearest)
  }
  const codec = coding.startsWith('aal2') ? 'g726' : 'g726le'
  const raw = Buffer.from(Int16Array.from(samples, (value) => Math.round(value * 32767)).buffer)
  const bits = ['-code_size', String(bitsPerSample(coding))]
  const args = ['-f', 's16le', '-ar', '8000', '-ac', '1', '-i', '-', '-c:a', codec, ...bits, '-f', codec, '-']
  return new Uint8Array(spawnSync('ffmpeg', ['-v', 'error', ...args], { input: raw }).stdout)
}

/** Decodes AAC blocks with FFmpeg. */
function decodeAac(blocks: readonly Uint8Array[]): Float32Array {
  const { config } = createTranscodedFormat()
  const adts = Buffer.concat(blocks.flatMap((block) => [writeAdtsHeader(config, block.length), block]))
  const args = ['-v', 'error', '-f', 'aac', '-i', '-', '-f', 'f32le', '-']
  const { stdout, stderr } = spawnSync('ffmpeg', args, { input: adts, maxBuffer: 1e8 })
  assert.equal(stderr.toString(), '')
  return new Float32Array(stdout.buffer.slice(stdout.byteOffset, stdout.byteOffset + stdout.byteLength))
}

/** Pushes all chunks and returns the blocks with the chunks they belong to. */
async function transcode(transcoder: ProcessAudioTranscoder, source: AudioSource, bytes: Uint8Array) {
  const blocks: { data: Uint8Array; chunk: number }[] = []
  const sink = transcoder.open<number>(source, (data, chunk) => blocks.push({ data, chunk }))
  const size = (chunkSamples(source) * bitsPerSample(source.coding)) / 8
  const count = Math.floor(bytes.length / size)
  for (let i = 0; i < count; i++) sink.push(bytes.subarray(i * size, (i + 1) * size), i)
  // The encoder is some blocks behind.
  await until(() => blocks.length >= count - 3)
  sink.close()
  return blocks
}

/** The amplitude of a 1 kHz tone in the samples, and of the remaining signal. */
function measure(samples: Float32Array): { tone: number; rest: number } {
  let [sine, cosine, power] = [0, 0, 0]
  for (const [i, value] of samples.entries()) {
    sine += value * Math.sin((2 * Math.PI * 1000 * i) / outRate)
    cosine += value * Math.cos((2 * Math.PI * 1000 * i) / outRate)
    power += value * value
  }
  const tone = (2 * Math.hypot(sine, cosine)) / samples.length
  return { tone, rest: Math.sqrt(Math.max(0, (2 * power) / samples.length - tone * tone)) }
}

suite('audio', () => {
  const sources = telephoneCodings.map((coding): AudioSource => ({ coding, sampleRate: 8000 }))
  for (const source of [...sources, { coding: 'pcmu', sampleRate: 16_000 } as const]) {
    test(`${source.coding} of ${source.sampleRate} Hz is transcoded without change of pitch or time`, {
      skip,
    }, async () => {
      await using transcoder = openTranscoder()
      const onset = 1
      const bytes = encode(source.coding, createTone(source.sampleRate * 3, source.sampleRate, onset))
      const blocks = await transcode(transcoder, source, bytes)
      assert.deepEqual(
        blocks.map(({ chunk }) => chunk),
        blocks.map((_, i) => i),
        'each chunk has its block, in order',
      )
      const audio = decodeAac(blocks.map(({ data }) => data))
      const { tone, rest } = measure(audio.subarray(outRate * 1.5, outRate * 2.5))
      assert.ok(Math.abs(tone - 0.5) < 0.05, `a tone of ${tone}`)
      // With 2 bits per sample there is hardly more than noise.
      assert.ok(rest < (source.coding.endsWith('16') ? 0.2 : 0.06), `noise of ${rest}`)
      const heard = audio.findIndex((value) => Math.abs(value) > 0.2) / outRate
      assert.ok(Math.abs(heard - onset) < 0.02, `heard at ${heard} s`)
    })
  }

  test('a process that dies loses its queued audio; streams continue in the next process', async () => {
    await using transcoder = openTranscoder()
    const heard: number[] = []
    const source: AudioSource = { coding: 'pcma', sampleRate: 8000 }
    const sink = transcoder.open<number>(source, (_, chunk) => heard.push(chunk))
    const chunk = new Uint8Array(512).fill(0xd5)
    for (let i = 0; i < 10; i++) sink.push(chunk, i)
    await until(() => heard.length > 5)
    const { pid } = transcoder.stats()
    process.kill(pid!, 'SIGKILL')
    await until(() => transcoder.stats().crashes === 1)
    assert.equal(transcoder.isAvailable, false)
    let next = 100
    await until(() => {
      sink.push(chunk, next++)
      return heard.some((each) => each >= 100)
    })
    assert.notEqual(transcoder.stats().pid, pid)
    assert.ok(transcoder.stats().droppedChunks > 0, 'nothing waits for a process that is not running')
    assert.ok(heard.every((each, i) => i === 0 || each > heard[i - 1]!))
  })

  test('a process that hangs is killed, and its unread input is bounded', async () => {
    await using transcoder = openTranscoder({ isolation: noIsolation, timeoutMs: 300, maxUnsentBytes: 20_000 })
    const heard: number[] = []
    const sink = transcoder.open<number>({ coding: 'pcmu', sampleRate: 8000 }, (_, chunk) => heard.push(chunk))
    sink.push(new Uint8Array(512), 0)
    await until(() => transcoder.stats().pid !== undefined)
    await systemClock.sleep(500)
    process.kill(transcoder.stats().pid!, 'SIGSTOP')
    for (let i = 0; i < 400; i++) sink.push(new Uint8Array(512), i)
    assert.ok(transcoder.stats().droppedChunks > 100)
    await until(() => {
      sink.push(new Uint8Array(512), 0)
      return transcoder.stats().crashes > 0
    })
  })

  test('the process ends without streams and is restarted for the next stream', async () => {
    await using transcoder = openTranscoder({ idleMs: 50 })
    const source: AudioSource = { coding: 'pcmu', sampleRate: 8000 }
    const bytes = new Uint8Array(512 * 20).fill(0xff)
    for (let i = 0; i < 2; i++) {
      await transcode(transcoder, source, bytes)
      await until(() => transcoder.stats().pid === undefined)
    }
    assert.equal(transcoder.stats().crashes, 0)
  })
})

const id = fc.nat(2 ** 32 - 2)
const bytes = fc.uint8Array({ maxLength: 50 })

test('messages are read as they were written, however the stream is split', () => {
  const request: fc.Arbitrary<AudioRequest> = fc.oneof(
    fc.record({
      type: fc.constant('open' as const),
      streamId: id,
      coding: fc.constantFrom(...telephoneCodings),
      sampleRate: fc.nat(65_535),
    }),
    fc.record({ type: fc.constant('chunk' as const), streamId: id, number: id, data: bytes }),
    fc.record({ type: fc.constant('close' as const), streamId: id }),
  )
  const reply: fc.Arbitrary<AudioReply> = fc.record({
    streamId: id,
    number: fc.option(id, { nil: undefined }),
    data: bytes,
  })
  const read = (parts: Uint8Array[], size: number) => {
    const all = Buffer.concat(parts)
    const reader = new MessageReader()
    const messages: Uint8Array[] = []
    for (let at = 0; at < all.length; at += size) messages.push(...reader.push(all.subarray(at, at + size)))
    return messages
  }
  fc.assert(
    fc.property(fc.array(request), fc.array(reply), fc.integer({ min: 1, max: 40 }), (requests, replies, size) => {
      assert.deepEqual(
        read(requests.flatMap(writeAudioRequest), size).map((message) => {
          const parsed = parseAudioRequest(message)
          return parsed.type === 'chunk' ? { ...parsed, data: new Uint8Array(parsed.data) } : parsed
        }),
        requests.map((each) => ({ ...each })),
      )
      assert.deepEqual(
        read(replies.flatMap(writeAudioReply), size).map(parseAudioReply),
        replies.map((each) => ({ ...each })),
      )
    }),
  )
})

test('random messages are either parsed or reported as corrupt', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 20 }), (message) => {
      for (const parse of [parseAudioRequest, parseAudioReply]) {
        try {
          parse(message)
        } catch (error) {
          assert.ok(error instanceof AppError && error.kind === 'corrupt')
        }
      }
    }),
  )
})

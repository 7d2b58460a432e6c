import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'
import { parseAudioSpecificConfig } from '../../media/aac/audio-specific-config.ts'
import type { ContainerEnd, ContainerPacket, ContainerTracks } from '../../media/container/container-stream.ts'
import type { ContainerFormat } from '../../media/container/find-container.ts'
import { ascii, box, fullBox, u32, writeBoxes } from '../../media/mp4/box.ts'
import { noIsolation } from '../isolation/isolation.ts'
import { openIsolation } from '../isolation/open-isolation.ts'
import { ProcessContainerReader } from './process-container-reader.ts'

const best = await openIsolation({ mode: 'auto' })

type Read = { tracks: ContainerTracks | undefined; packets: ContainerPacket[]; end: ContainerEnd }

/** Pushes all of `bytes` through a separate process as fast as it reads. */
async function readAll(format: ContainerFormat, bytes: Uint8Array, isEnded = true, isolation = best): Promise<Read> {
  const ended = Promise.withResolvers<ContainerEnd>()
  let drained = Promise.withResolvers<void>()
  let tracks: ContainerTracks | undefined
  const packets: ContainerPacket[] = []
  await using input = new ProcessContainerReader({ isolation, maxUnsentBytes: 100_000 }).open(format, {
    onTracks(found) {
      assert.equal(tracks, undefined)
      tracks = found
    },
    onPacket(packet) {
      assert.ok(tracks, 'tracks come first')
      packets.push({ ...packet, data: packet.data.slice() })
    },
    onEnd: (end) => ended.resolve(end),
    onDrain: () => drained.resolve(),
  })
  const over = ended.promise.then(() => true)
  for (let at = 0; at < bytes.length; at += 50_000) {
    drained = Promise.withResolvers()
    if (!input.push(bytes.subarray(at, at + 50_000)) && (await Promise.race([drained.promise, over]))) break
  }
  if (isEnded) input.end()
  const end = await ended.promise
  return { tracks, packets, end }
}

const frameCount = 60

/** The packets that FFmpeg creates for two seconds of a test video, with an optional tone. */
async function encode(...output: string[]): Promise<Buffer> {
  const video = ['-f', 'lavfi', '-i', `testsrc2=size=64x48:rate=30:duration=${frameCount / 30}`]
  const audio = output.includes('-c:a') ? ['-f', 'lavfi', '-i', 'sine=sample_rate=8000:duration=2'] : []
  const args = ['-v', 'error', '-nostdin', ...video, ...audio, '-g', '15', ...output, '-']
  const options = { encoding: 'buffer', maxBuffer: 1e8, timeout: 60_000 } as const
  return (await promisify(execFile)('ffmpeg', args, options)).stdout
}

const h264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-bf', '2']
const fragments = ['-movflags', 'empty_moov+frag_keyframe+default_base_moof', '-f', 'mp4']

type Kind = { readonly format: ContainerFormat; readonly output: readonly string[]; readonly codecs: readonly string[] }

const kinds: readonly Kind[] = [
  { format: 'mpegts', output: [...h264, '-c:a', 'aac', '-f', 'mpegts'], codecs: ['h264', 'aac'] },
  { format: 'flv', output: [...h264, '-c:a', 'pcm_alaw', '-f', 'flv'], codecs: ['h264', 'pcm_alaw'] },
  { format: 'flv', output: [...h264, '-f', 'flv'], codecs: ['h264'] },
  { format: 'mov', output: [...h264, '-c:a', 'aac', ...fragments], codecs: ['h264', 'aac'] },
  { format: 'matroska', output: ['-c:v', 'libx265', '-c:a', 'libopus', '-f', 'matroska'], codecs: ['hevc', 'opus'] },
  { format: 'h264', output: [...h264, '-f', 'h264'], codecs: ['h264'] },
  { format: 'hevc', output: ['-c:v', 'libx265', '-f', 'hevc'], codecs: ['hevc'] },
]

describe('streams written by FFmpeg are demultiplexed without loss', { concurrency: 2 }, () => {
  for (const { format, output, codecs } of kinds) {
    test(`${format} with ${codecs.join(' and ')}`, async () => {
      const { tracks, packets, end } = await readAll(format, await encode(...output))
      assert.deepEqual(end, { kind: 'ended' })
      assert.deepEqual([tracks?.video.codec, tracks?.audio?.codec].filter(Boolean), codecs)
      const video = packets.filter(({ kind }) => kind === 'video')
      assert.equal(video.length, frameCount)
      const isTimed = format !== 'h264' && format !== 'hevc'
      const times = video.flatMap(({ pts90k }) => pts90k ?? []).sort((a, b) => a - b)
      assert.equal(times.length, isTimed ? frameCount : 0)
      // (FFmpeg reserves room for the start of the audio after the first frame of an MP4.)
      for (const [i, time] of times.slice(1).entries())
        assert.ok(Math.abs(time - times[i]! - 3000) <= (i === 0 ? 12_000 : 100), `${time}`)
      const audio = packets.filter(({ kind }) => kind === 'audio')
      if (tracks?.audio?.codec !== 'aac') return
      assert.equal(parseAudioSpecificConfig(tracks.audio.config).sampleRate, 8000)
      assert.ok(audio.length >= 15 && audio.every(({ data }) => data[0] !== 0xff), 'blocks without a header')
      for (const [i, { pts90k }] of audio.slice(1).entries())
        assert.ok(Math.abs(pts90k! - audio[i]!.pts90k! - 11_520) <= 100, 'each packet has its time')
    })
  }
})

test('a 33-bit timestamp continues after it wraps', async () => {
  const stream = await encode(
    ...h264,
    '-output_ts_offset',
    String(2 ** 33 / 90_000 - 1),
    '-muxdelay',
    '0',
    '-f',
    'mpegts',
  )
  const { packets } = await readAll('mpegts', stream)
  const times = packets.map(({ pts90k }) => pts90k!).sort((a, b) => a - b)
  assert.equal(times.length, frameCount)
  for (const [i, time] of times.slice(1).entries()) assert.equal(time - times[i]!, 3000)
})

test('other codecs are named', async () => {
  const { tracks } = await readAll(
    'mpegts',
    await encode('-c:v', 'mpeg4', '-c:a', 'ac3', '-ar', '32000', '-f', 'mpegts'),
  )
  assert.deepEqual([tracks?.video.codec, tracks?.audio?.codec], ['mpeg4', 'ac3'])
})

test('a stream with only audio has no video', async () => {
  const stream = await encode('-vn', '-c:a', 'aac', '-f', 'mpegts')
  assert.deepEqual((await readAll('mpegts', stream)).end, { kind: 'no_video' })
})

test('random and truncated streams always end with a reason', async () => {
  const randomBytes = new Uint8Array(300_000)
  for (let i = 0, x = 1; i < randomBytes.length; i++) {
    x = (Math.imul(x, 1103515245) + 12345) >>> 0
    randomBytes[i] = x >>> 16
  }
  const mp4 = await encode(...h264, ...fragments)
  const flv = await encode(...h264, '-f', 'flv')
  const half = (bytes: Uint8Array) => bytes.subarray(0, bytes.length >> 1)
  const torn = (bytes: Uint8Array) => Buffer.concat([half(bytes), randomBytes, half(bytes)])
  const all: [ContainerFormat, Uint8Array][] = [
    ...(['mpegts', 'flv', 'mov', 'matroska', 'h264'] as const).map(
      (format) => [format, randomBytes] as [ContainerFormat, Uint8Array],
    ),
    ['mov', half(mp4)],
    ['mov', torn(mp4)],
    ['flv', torn(flv)],
    ['matroska', new Uint8Array()],
  ]
  for (const [format, bytes] of all) {
    const { end } = await readAll(format, bytes)
    assert.ok(['ended', 'unreadable', 'no_video'].includes(end.kind), `${format}: ${JSON.stringify(end)}`)
  }
})

test('an endless frame does not fill the memory', async () => {
  const endless = new Uint8Array(60_000_000).fill(0x55)
  endless.set(await encode(...h264, '-frames:v', '1', '-f', 'h264'))
  endless.set([0, 0, 0, 1, 0x65, 0x88], 5000)
  assert.deepEqual((await readAll('h264', endless, false)).end, { kind: 'too_much' })
})

test('a header of some kilobytes that claims millions of frames does not fill the memory', async () => {
  const mp4 = claimSamples(await encode(...h264, ...fragments), 70_000_000)
  assert.deepEqual((await readAll('mov', mp4, false, noIsolation)).end, { kind: 'too_much' })
  // If the system limits memory, FFmpeg fails to allocate the tables and continues without them.
  const { end } = await readAll('mov', mp4)
  assert.notEqual(end.kind, 'lost')
})

/** A file with the tables (ISO/IEC 14496-12 8.6, 8.7) of a file with this many frames in one chunk. */
function claimSamples(file: Buffer, count: number): Uint8Array {
  const tables = [
    fullBox('stts', 0, 0, u32(1, count, 1)),
    fullBox('stsc', 0, 0, u32(1, 1, count, 1)),
    fullBox('stsz', 0, 0, u32(1, count)),
    fullBox('stco', 0, 0, u32(1, 0)),
  ]
  const last = file.indexOf('stco') - 4
  const range = { from: file.indexOf('stts') - 4, to: last + file.readUInt32BE(last) }
  return replaceInside(file, ['moov', 'trak', 'mdia', 'minf', 'stbl'], range, writeBoxes(tables))
}

test('URLs inside a stream are never opened, whatever its declared format', async () => {
  let visits = 0
  const canary = createServer((socket) => {
    visits++
    socket.destroy()
  }).listen(0, '127.0.0.1')
  await once(canary, 'listening')
  const { port } = canary.address() as AddressInfo
  const url = `http://127.0.0.1:${port}/x.ts`
  const playlist = Buffer.from(`#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n${url}\n`.repeat(50))
  const sdp = Buffer.from(`v=0\r\nc=IN IP4 127.0.0.1\r\nm=video ${port} RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\n`)
  const mp4 = addReference(await encode(...h264, '-movflags', 'empty_moov+frag_keyframe', '-f', 'mp4'), url)
  const all: [ContainerFormat, Uint8Array][] = [
    ...(['mpegts', 'mov', 'flv', 'matroska'] as const).map(
      (format) => [format, playlist] as [ContainerFormat, Uint8Array],
    ),
    ['mov', sdp],
    ['mov', mp4],
  ]
  for (const [format, bytes] of all) {
    const { end } = await readAll(format, bytes)
    assert.notEqual(end.kind, 'lost', format)
  }
  canary.close()
  assert.equal(visits, 0)
})

/** A file that refers to another file for its frames (ISO/IEC 14496-12 8.7.2, and Apple's own form). */
function addReference(file: Buffer, url: string): Uint8Array {
  const there = writeBoxes([
    fullBox('dref', 0, 0, [0, 0, 0, 2], fullBox('url ', 0, 0, ascii(`${url}\0`)), fullBox('alis', 0, 0, ascii(url))),
  ])
  const from = file.indexOf('dref') - 4
  const range = { from, to: from + file.readUInt32BE(from) }
  const parents = ['moov', 'trak', 'mdia', 'minf', 'dinf']
  return Buffer.concat([replaceInside(file, parents, range, there), writeBoxes([box('free')])])
}

/** `parents` are the boxes that contain the range and grow with it. */
function replaceInside(
  file: Buffer,
  parents: readonly string[],
  { from, to }: { readonly from: number; readonly to: number },
  replacement: Uint8Array,
): Buffer {
  const head = Buffer.from(file.subarray(0, from))
  for (const name of parents) {
    const at = head.indexOf(name) - 4
    head.writeUInt32BE(head.readUInt32BE(at) + replacement.length - (to - from), at)
  }
  return Buffer.concat([head, replacement, file.subarray(to)])
}

test('the number of concurrent streams is limited', async () => {
  const reader = new ProcessContainerReader({ isolation: best, maxStreams: 1 })
  const sink = (onEnd: (end: ContainerEnd) => void) => ({ onTracks() {}, onPacket() {}, onDrain() {}, onEnd })
  const ends: ContainerEnd[] = []
  {
    await using _first = reader.open(
      'flv',
      sink(() => {}),
    )
    await using _second = reader.open(
      'flv',
      sink((end) => ends.push(end)),
    )
    assert.deepEqual(ends, [{ kind: 'busy', limit: 1 }])
  }
  await using _third = reader.open(
    'flv',
    sink((end) => ends.push(end)),
  )
  assert.equal(ends.length, 1)
})

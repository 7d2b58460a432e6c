// Downloads of real footage, checked with ffprobe.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, mkdtempDisposable, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { FootageScene } from '../../test/playback/footage-scene.ts'
import { readBytes } from '../../test/playback/stream-player.ts'
import { syntheticStartMs as t0 } from '../../test/support/media/synthetic-frames.ts'
import { AppError } from '../base/error.ts'
import { maxDownloadMs } from './downloads.ts'

const ffprobe = '/usr/bin/ffprobe'
const skip = existsSync(ffprobe) ? false : `${ffprobe} is not installed`
const user = { cameraId: 1, userId: 7, credential: { kind: 'personal', id: 3 } } as const
const at = (seconds: number) => t0 + seconds * 1000
const isKind = (kind: string) => (error: unknown) => error instanceof AppError && error.kind === kind

/** Type and width of the sample descriptions of the first track. */
function readEntries(file: Buffer): string[] {
  const stsd = file.indexOf('stsd')
  const entries: string[] = []
  for (let i = 0, at = stsd + 12; i < file.readUInt32BE(stsd + 8); i++, at += file.readUInt32BE(at)) {
    entries.push(`${file.toString('latin1', at + 4, at + 8)} ${file.readUInt16BE(at + 32)}`)
  }
  return entries
}

async function probe(bytes: Uint8Array) {
  const folder = await mkdtemp(join(tmpdir(), 'nightjar-download-'))
  try {
    const path = join(folder, 'download.mp4')
    await writeFile(path, bytes)
    const args = '-v error -show_entries packet=codec_type,pts_time,dts_time,flags:format=duration -of json'.split(' ')
    const { stdout, stderr } = await promisify(execFile)(ffprobe, [...args, path], { maxBuffer: 1e8 })
    assert.equal(stderr, '')
    const { packets, format } = JSON.parse(stdout) as {
      packets: { codec_type: string; pts_time: string; flags: string }[]
      format: { duration: string }
    }
    return { packets, seconds: Number(format.duration) }
  } finally {
    await rm(folder, { recursive: true })
  }
}

test('a kept gap has its duration, even after a hole in the previous file', { skip }, async () => {
  await using scene = new FootageScene()
  await scene.record(0, 40, { gopFrames: 50, audioSampleRate: 44100, losses: [[20.2, 25]] })
  await scene.lose('camera_unreachable')
  await scene.record(60, 80, { audioSampleRate: 44100 })
  await scene.stop()
  const playback = scene.playback()
  const { id } = await playback.createDownload({ ...user, startMs: at(0), endMs: at(80) })
  const bytes = await readBytes(await playback.openDownload(id, true, {}))
  for (const type of ['mvhd', 'tkhd', 'mdhd']) {
    const since1904 = bytes.readUInt32BE(bytes.indexOf(type) + 8)
    assert.equal(since1904 - 2_082_844_800, t0 / 1000)
  }
  const { packets, seconds } = await probe(bytes)
  assert.ok(Math.abs(seconds - 80) < 0.1, `${seconds}`)
  const times = packets.filter(({ codec_type }) => codec_type === 'video').map(({ pts_time }) => Number(pts_time))
  assert.ok(times.some((time) => Math.abs(time - 60) < 0.02))
})

test('a range over files and a gap is one exact file with gaps left out or kept, and byte ranges match it', {
  skip,
}, async () => {
  await using scene = new FootageScene()
  await scene.record(0, 100, { audioSampleRate: 44100, start90k: 500_000 })
  await scene.lose('camera_unreachable')
  await scene.record(130, 140, { audioSampleRate: 44100 })
  await scene.stop()
  const playback = scene.playback()
  const { id } = await playback.createDownload({ ...user, startMs: at(10.4), endMs: at(135.2) })
  const whole = await readBytes(await playback.openDownload(id, false, {}))
  const skipped = await probe(whole)
  assert.ok(Math.abs(skipped.seconds - (124.8 - 30)) < 0.1, `${skipped.seconds}`)
  const shown = skipped.packets.filter(({ codec_type, flags }) => codec_type === 'video' && !flags.includes('D'))
  assert.ok(Math.abs(shown.length - 94.8 * 25) <= 25, `${shown.length}`)
  assert.ok(Math.abs(Number(skipped.packets.find(({ codec_type }) => codec_type === 'video')!.pts_time) + 0.4) < 0.05)
  for (const kind of ['video', 'audio']) {
    const times = skipped.packets
      .filter(({ codec_type }) => codec_type === kind)
      .map(({ pts_time }) => Number(pts_time))
    assert.ok(
      times.every((time, i) => i === 0 || time > times[i - 1]!),
      kind,
    )
  }
  const kept = await probe(await readBytes(await playback.openDownload(id, true, {})))
  assert.ok(Math.abs(kept.seconds - 124.8) < 0.1, `${kept.seconds}`)

  for (const [first, last] of [
    [0, 9],
    [1000, 99_999],
    [whole.length - 7, whole.length - 1],
  ] as const) {
    const part = await scene.playback().openDownload(id, false, { range: `bytes=${first}-${last}` })
    assert.equal(part.status, 206)
    assert.deepEqual(await readBytes(part, 1 + (last % 9973)), whole.subarray(first, last + 1))
  }
  const { etag, ...again } = await playback.openDownload(id, false, { range: 'bytes=5-9', ifRange: '"other"' })
  assert.equal(again.status, 200, 'a changed file is sent completely')
  const same = await playback.openDownload(id, false, { range: 'bytes=5-9', ifRange: etag })
  assert.equal(same.status, 206)
  assert.equal((await playback.openDownload(id, false, { range: `bytes=${whole.length}-` })).status, 416)
})

test('a hole within a file is left out of a download or kept', { skip }, async () => {
  await using scene = new FootageScene()
  await scene.record(0, 30, { audioSampleRate: 44100, gopFrames: 100, losses: [[9, 9.04]] })
  await scene.stop()
  const playback = scene.playback()
  const { id } = await playback.createDownload({ ...user, startMs: at(4), endMs: at(20) })
  const skipped = await probe(await readBytes(await playback.openDownload(id, false, {})))
  assert.ok(Math.abs(skipped.seconds - 13) < 0.3, `${skipped.seconds}`)
  const kept = await probe(await readBytes(await playback.openDownload(id, true, {})))
  assert.ok(Math.abs(kept.seconds - 16) < 0.1, `${kept.seconds}`)
  for (const { packets } of [skipped, kept]) {
    assert.equal(packets.filter(({ codec_type }) => codec_type === 'video').length, 13 * 25)
    for (const kind of ['video', 'audio']) {
      const times = packets.filter(({ codec_type }) => codec_type === kind).map(({ pts_time }) => Number(pts_time))
      assert.ok(
        times.every((time, i) => i === 0 || time > times[i - 1]!),
        kind,
      )
    }
  }
})

test('a range that begins or ends inside a hole has all footage outside of it, and the hole only if it is kept', {
  skip,
}, async () => {
  await using scene = new FootageScene()
  // One lost packet costs the frames from 10.52 s up to the key frame at 20 s.
  await scene.record(0, 30, { audioSampleRate: 44100, gopFrames: 250, losses: [[10.52, 10.56]] })
  await scene.stop()
  const playback = scene.playback()
  const open = async (start: number, end: number, keepsGaps: boolean) => {
    const { id } = await playback.createDownload({ ...user, startMs: at(start), endMs: at(end) })
    const { packets, seconds } = await probe(await readBytes(await playback.openDownload(id, keepsGaps, {})))
    const video = packets.filter(({ codec_type, pts_time, flags }) => {
      return codec_type === 'video' && !flags.includes('D') && Number(pts_time) >= -0.001
    })
    return { seconds, frames: video.length, times: video.map(({ pts_time }) => Number(pts_time)) }
  }
  for (const start of [10.6, 11.5, 15.5, 19.5]) {
    const skipped = await open(start, 28, false)
    assert.equal(skipped.frames, 8 * 25, `from ${start} s`)
    assert.ok(Math.abs(skipped.seconds - 8) < 0.1, `${skipped.seconds}`)
    const kept = await open(start, 28, true)
    assert.ok(Math.abs(kept.seconds - (28 - start)) < 0.1, `${kept.seconds}`)
    assert.ok(
      kept.times.some((time) => Math.abs(time - (20 - start)) < 0.1),
      'the first frame behind the hole is at its time',
    )
  }
  assert.ok(Math.abs((await open(5.5, 13.5, true)).seconds - 8) < 0.1)
  assert.ok(Math.abs((await open(5.5, 13.5, false)).seconds - 5) < 0.1)
  const { id: inHole } = await playback.createDownload({ ...user, startMs: at(12), endMs: at(15) })
  for (const keepsGaps of [false, true]) {
    await assert.rejects(playback.openDownload(inHole, keepsGaps, {}), isKind('not_found'))
  }
})

test('a kept gap between files lasts to the end of a range that ends in it, and from the start of one that begins in it', {
  skip,
}, async () => {
  await using scene = new FootageScene()
  await scene.record(0, 10)
  await scene.lose('camera_unreachable')
  await scene.record(30, 40)
  await scene.stop()
  const playback = scene.playback()
  for (const [start, end, seconds] of [
    [5, 20, 15],
    [5, 35, 30],
    [32, 60, 8],
    [20, 35, 15],
  ] as const) {
    const { id } = await playback.createDownload({ ...user, startMs: at(start), endMs: at(end) })
    const found = await probe(await readBytes(await playback.openDownload(id, true, {})))
    assert.ok(Math.abs(found.seconds - seconds) < 0.1, `${start} s: ${found.seconds}`)
  }
})

test('one file contains changes of video size, missing audio and changes of the audio sample rate', {
  skip,
}, async () => {
  await using scene = new FootageScene()
  const clips = [
    {},
    { audioSampleRate: 48_000 },
    { width: 128 },
    { audioSampleRate: 16_000, width: 128 },
    { audioSampleRate: 48_000 },
    {},
  ] as const
  for (const [i, clip] of clips.entries()) {
    await scene.record(i * 20, i * 20 + 10, clip)
    await scene.lose('stream_changed')
  }
  await scene.stop()
  const playback = scene.playback()
  const { id } = await playback.createDownload({ ...user, startMs: at(2), endMs: at(108) })
  for (const keepsGaps of [false, true]) {
    const whole = await readBytes(await playback.openDownload(id, keepsGaps, {}))
    // Apple's players refuse `avc3`. They take the parameter sets from the descriptions, others from the samples.
    assert.deepEqual(readEntries(whole), ['avc1 64', 'avc1 128'])
    const { seconds, packets } = await probe(whole)
    assert.ok(Math.abs(seconds - (keepsGaps ? 106 : 56)) < 0.7, `${seconds}`)
    assert.equal(packets.filter(({ codec_type }) => codec_type === 'video').length, 56 * 25)
    await using folder = await mkdtempDisposable(join(tmpdir(), 'nightjar-download-'))
    const path = join(folder.path, 'download.mp4')
    await writeFile(path, whole)
    const frames = ['-show_entries', 'frame=width,pkt_size', '-select_streams', 'v', '-of', 'json']
    const { stdout, stderr } = await promisify(execFile)(ffprobe, ['-v', 'error', ...frames, path], { maxBuffer: 1e8 })
    assert.equal(stderr, '')
    const widths = (JSON.parse(stdout) as { frames: { width: number }[] }).frames.map(({ width }) => width)
    assert.deepEqual(
      [64, 128].map((wanted) => widths.filter((width) => width === wanted).length),
      [36 * 25, 20 * 25],
    )
    const decode = ['-v', 'error', '-xerror', '-i', path, '-map', '0', '-f', 'null', '-']
    assert.equal((await promisify(execFile)('ffmpeg', decode)).stderr, '')
    for (const [first, last] of [
      [whole.length - 5000, whole.length - 1],
      [20_000, 60_000],
    ] as const) {
      const part = await playback.openDownload(id, keepsGaps, { range: `bytes=${first}-${last}` })
      assert.deepEqual(await readBytes(part, 1 + (last % 9973)), whole.subarray(first, last + 1))
    }
  }
})

test('a download has the last frames, also if they are dated closer together than they are', { skip }, async () => {
  await using scene = new FootageScene()
  await scene.record(0, 10, { frameRate: 25, gopFrames: 25, steps: [{ at: 9.04, by: 0.3 }] })
  await scene.stop()
  const playback = scene.playback()
  const { id } = await playback.createDownload({ ...user, startMs: at(-5), endMs: at(20) })
  const { packets } = await probe(await readBytes(await playback.openDownload(id, false, {})))
  // From 9.34 s on, 17 frames follow. Those outside of the range would be marked to be discarded.
  assert.equal(packets.filter(({ flags }) => !flags.includes('D')).length, 9 * 25 + 1 + 17)
})

test('an empty range is rejected immediately', async () => {
  await using scene = new FootageScene()
  await scene.record(0, 10)
  await scene.record(20, 30, { width: 128 })
  await scene.stop()
  const playback = scene.playback()
  await assert.rejects(playback.createDownload({ ...user, startMs: at(12), endMs: at(18) }), isKind('not_found'))
  await assert.rejects(playback.createDownload({ ...user, startMs: at(100), endMs: at(180) }), isKind('not_found'))
  await playback.createDownload({ ...user, startMs: at(22), endMs: at(25) })
})

test('a recorded stream of a month cannot be downloaded', async () => {
  await using scene = new FootageScene()
  await scene.record(0, 10)
  await scene.stop()
  const playback = scene.playback()
  const stream = (startMs: number) => playback.createStream({ ...user, startMs, endMs: at(10), isRecording: true })
  const { id } = await stream(at(10) - maxDownloadMs - 1000)
  await assert.rejects(playback.openDownload(id, false, {}), isKind('not_found'))
  const short = await stream(at(10) - maxDownloadMs)
  assert.ok((await readBytes(await playback.openDownload(short.id, false, {}))).length > 0)
})

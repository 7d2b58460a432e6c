// Downloads of real footage, read by ffprobe.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { FootageScene } from '../../test/playback/footage-scene.ts'
import { AppError } from '../base/error.ts'
import { syntheticStartMs as t0 } from '../media/mp4/synthetic-frames.ts'
import { type DownloadBytes, maxDownloadMs } from './playback.ts'

const ffprobe = '/usr/bin/ffprobe'
const skip = existsSync(ffprobe) ? false : `${ffprobe} is not installed`
const user = { cameraId: 1, userId: 7, credential: { kind: 'personal', id: 3 } } as const
const at = (seconds: number) => t0 + seconds * 1000
const isKind = (kind: string) => (error: unknown) => error instanceof AppError && error.kind === kind

async function read(bytes: DownloadBytes): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  assert.ok(bytes.status !== 416)
  for await (const chunk of bytes.body) chunks.push(chunk)
  return Buffer.concat(chunks)
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

test('a range over files and a gap is one file, cut exactly; gaps are left out or kept; any range of its bytes is the same', {
  skip,
}, async () => {
  await using scene = new FootageScene()
  await scene.record(0, 100, { audioSampleRate: 44100, start90k: 500_000 })
  await scene.lose('camera_unreachable')
  await scene.record(130, 140, { audioSampleRate: 44100 })
  await scene.stop()
  const playback = scene.playback()
  const id = await playback.createDownload({ ...user, startMs: at(10.4), endMs: at(135.2) })
  const whole = await read(await playback.openDownload(id, false, {}))
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
  const kept = await probe(await read(await playback.openDownload(id, true, {})))
  assert.ok(Math.abs(kept.seconds - 124.8) < 0.1, `${kept.seconds}`)

  for (const [first, last] of [
    [0, 9],
    [1000, 99_999],
    [whole.length - 7, whole.length - 1],
  ] as const) {
    const part = await scene.playback().openDownload(id, false, { range: `bytes=${first}-${last}` })
    assert.equal(part.status, 206)
    assert.deepEqual(await read(part), whole.subarray(first, last + 1))
  }
  const { etag, ...again } = await playback.openDownload(id, false, { range: 'bytes=5-9', ifRange: '"other"' })
  assert.equal(again.status, 200, 'what has changed is sent anew')
  const same = await playback.openDownload(id, false, { range: 'bytes=5-9', ifRange: etag })
  assert.equal(same.status, 206)
  assert.equal((await playback.openDownload(id, false, { range: `bytes=${whole.length}-` })).status, 416)
})

test('nothing to download, or a change of format on the way, is said at once', async () => {
  await using scene = new FootageScene()
  await scene.record(0, 10)
  await scene.record(20, 30, { width: 128 })
  await scene.stop()
  const playback = scene.playback()
  await assert.rejects(playback.createDownload({ ...user, startMs: at(12), endMs: at(18) }), isKind('not_found'))
  await assert.rejects(playback.createDownload({ ...user, startMs: at(100), endMs: at(180) }), isKind('not_found'))
  await assert.rejects(playback.createDownload({ ...user, startMs: at(5), endMs: at(25) }), (error) => {
    assert.ok(isKind('invalid')(error))
    assert.match((error as AppError).message, new RegExp(new Date(at(20)).toISOString()))
    return true
  })
  await playback.createDownload({ ...user, startMs: at(22), endMs: at(25) })
})

test('a recorded stream of a month is no way to a download of a month', async () => {
  await using scene = new FootageScene()
  await scene.record(0, 10)
  await scene.stop()
  const playback = scene.playback()
  const stream = (startMs: number) => playback.createStream({ ...user, startMs, endMs: at(10), isRecording: true })
  const { id } = await stream(at(10) - maxDownloadMs - 1000)
  await assert.rejects(playback.openDownload(id, false, {}), isKind('not_found'))
  const short = await stream(at(10) - maxDownloadMs)
  assert.ok((await read(await playback.openDownload(short.id, false, {}))).length > 0)
})

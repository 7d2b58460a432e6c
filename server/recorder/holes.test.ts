// Times without a frame: how the recorder represents them in the file and in the index, also after a repair.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FootageScene } from '../../test/playback/footage-scene.ts'
import type { Faults } from '../../test/playback/lossy-frames.ts'
import { parsePlaylist } from '../../test/playback/parse-playlist.ts'
import { StreamPlayer } from '../../test/playback/stream-player.ts'
import { MemorySegmentRows } from '../../test/support/archive/memory-segment-rows.ts'
import { type SyntheticOptions, syntheticStartMs as t0 } from '../../test/support/media/synthetic-frames.ts'
import { scanBoxes } from '../media/mp4/box-scanner.ts'
import { parseFragmentSamples } from '../media/mp4/fragment-samples.ts'
import type { Segment } from '../model/segment.ts'

const user = { cameraId: 1, userId: 7, credential: { kind: 'personal', id: 3 } } as const
const at = (seconds: number) => t0 + seconds * 1000

async function record(scene: FootageScene, seconds: number, options: SyntheticOptions & Faults): Promise<Segment[]> {
  await scene.record(0, seconds, options)
  await scene.stop()
  scene.clock.ms = at(seconds + 60)
  return scene.catalog.listSegments(1, t0, at(seconds))
}

const gapsOf = async (scene: FootageScene) =>
  (await scene.playback().timeline(1, t0, at(60))).gaps.map(({ startMs, endMs, reason }) => [
    (startMs - t0) / 1000,
    (endMs - t0) / 1000,
    reason,
  ])

test('a lost packet in a long group of pictures is a gap until the next key frame, not a frozen frame', async () => {
  await using scene = new FootageScene()
  const segments = await record(scene, 40, { gopFrames: 250, audioSampleRate: 48000, losses: [[10.2, 10.24]] })
  assert.equal(segments.length, 1, 'a loss does not begin a file')
  const { fragments } = segments[0]!
  const after = fragments.findIndex(({ hole }) => hole)
  const before = fragments[after - 1]!
  assert.deepEqual(fragments[after]!.hole, { durationMs: 9800, reason: 'packet_loss', isCut: true })
  assert.equal(fragments[after]!.startMs, at(20))
  assert.equal(before.startMs + before.durationMs, at(10.2), 'the frame before the loss has the usual duration')
  assert.deepEqual(await gapsOf(scene), [[11, 20, 'packet_loss']])
})

test('a loss and a pause with a single frame between them are two holes', async () => {
  await using scene = new FootageScene()
  const [segment] = await record(scene, 40, { gopFrames: 250, losses: [[12.2, 12.24]], pauses: [[20.04, 23]] })
  const holes = segment!.fragments.flatMap(({ hole }) => hole ?? [])
  assert.deepEqual(holes, [
    { durationMs: 7800, reason: 'packet_loss', isCut: true },
    { durationMs: 2960, reason: 'no_frames', isCut: false },
  ])
  assert.deepEqual(await gapsOf(scene), [
    [13, 20, 'packet_loss'],
    [21, 23, 'no_frames'],
  ])
})

test('the last frame before a loss does not last as long as a pause before it', async () => {
  await using scene = new FootageScene()
  const [segment] = await record(scene, 30, {
    gopFrames: 250,
    audioSampleRate: 8000,
    pauses: [[4, 8.4]],
    losses: [[8.44, 8.48]],
  })
  const { fragments } = segment!
  for (const [i, { start90k, duration90k, startMs, durationMs }] of fragments.slice(0, -1).entries()) {
    const next = fragments[i + 1]!
    assert.ok(start90k + duration90k <= next.start90k, `fragment ${i} reaches into the next one`)
    assert.ok(startMs + durationMs <= next.startMs + 1, `fragment ${i} ends after the next one begins`)
  }
})

test('footage of a single frame between two losses has audio', async () => {
  await using scene = new FootageScene()
  await record(scene, 20, {
    gopFrames: 100,
    audioSampleRate: 8000,
    losses: [
      [5, 5.04],
      [8.04, 8.08],
    ],
  })
  const playback = scene.playback()
  const { id } = await playback.createStream({ ...user, startMs: t0, endMs: at(20), isRecording: false })
  const played = await new StreamPlayer(playback, id).play()
  const single = played.find(({ seconds }) => seconds < 0.1)!
  assert.equal(scanBoxes(single.bytes).boxes.filter(({ type }) => type === 'moof').length, 1)
  const [moof] = scanBoxes(single.bytes).boxes.filter(({ type }) => type === 'moof')
  const tracks = parseFragmentSamples(single.bytes.subarray(moof!.offset, moof!.offset + moof!.bytes))
  assert.equal(tracks.length, 2)
})

test('footage after a hole plays with a discontinuity and at the right time', async () => {
  await using scene = new FootageScene()
  await record(scene, 40, { gopFrames: 100, audioSampleRate: 44100, losses: [[9, 9.04]] })
  const playback = scene.playback()
  const { id } = await playback.createStream({ ...user, startMs: t0, endMs: at(40), isRecording: false })
  const { entries } = parsePlaylist(await playback.playlist(id))
  const behind = entries.filter(({ tags }) => tags.includes('#EXT-X-DISCONTINUITY'))
  assert.deepEqual(
    behind.map(({ dateMs }) => dateMs),
    [at(12)],
  )
  const seconds = entries.reduce((sum, entry) => sum + entry.seconds, 0)
  assert.ok(Math.abs(seconds - 37) < 0.01, `${seconds}`)
})

test('a pause without loss is reported and keeps the frame before it, which later frames need', async () => {
  for (const [end, gap] of [
    [13.52, [12, 13, 'no_frames']],
    [26, [12, 26, 'no_frames']],
  ] as const) {
    await using scene = new FootageScene()
    const [segment, other] = await record(scene, 30, { gopFrames: 250, pauses: [[12, end]] })
    assert.equal(other, undefined)
    const { fragments } = segment!
    const after = fragments.find(({ hole }) => hole)!
    const durationMs = Math.round((end - 12) * 1000)
    assert.deepEqual(after.hole, { durationMs, reason: 'no_frames', isCut: false })
    assert.deepEqual([after.startMs, after.isKey], [at(end), false])
    assert.equal(
      fragments.reduce((sum, { durationMs }) => sum + durationMs, 0),
      30_000,
    )
    assert.deepEqual(await gapsOf(scene), [gap])
  }
})

test('timestamps that step ahead while frames go on are no gap', async () => {
  await using scene = new FootageScene()
  const steps = [1.2, 1.9].map((by, i) => ({ at: 8.2 + 12 * i, by }))
  const segments = await record(scene, 36, { gopFrames: 250, steps })
  assert.ok(segments.every(({ fragments }) => fragments.every(({ hole }) => hole === undefined)))
  assert.deepEqual(await gapsOf(scene), [])
})

test('a camera that starts sending a frame every two seconds has no gap', async () => {
  await using scene = new FootageScene()
  const pauses = Array.from({ length: 20 }, (_, i) => [10.04 + i * 2, 12 + i * 2] as const)
  await record(scene, 60, { gopFrames: 50, pauses })
  assert.deepEqual(await gapsOf(scene), [])
})

test('a camera with one frame per second has no gap, not even if one frame is lost', async () => {
  await using scene = new FootageScene()
  await record(scene, 60, { frameRate: 1, gopFrames: 1, losses: [[20, 20.5]] })
  assert.deepEqual(await gapsOf(scene), [])
})

test('a loss in every group of pictures creates no additional files', async () => {
  await using scene = new FootageScene()
  const losses = Array.from({ length: 60 }, (_, i) => [i * 2 + 0.2, i * 2 + 0.24] as const)
  const segments = await record(scene, 120, { gopFrames: 50, audioSampleRate: 44100, losses })
  assert.ok(segments.length <= 4, `${segments.length} files`)
  const { gaps } = await scene.playback().timeline(1, t0, at(120))
  assert.equal(gaps.length, 59)
})

test('holes survive a restart of the server and the repair after a crash', async () => {
  const rows = new MemorySegmentRows()
  await using scene = new FootageScene(rows)
  const [segment] = await record(scene, 40, { gopFrames: 250, losses: [[10.2, 10.24]], pauses: [[32, 34]] })
  const { fragments } = segment!
  const gaps = await gapsOf(scene)
  assert.equal(gaps.length, 2)
  await rows.reopen(segment!.id)
  assert.deepEqual((await rows.listOpen())[0]!.fragments, [])
  await scene.catalog.repairOpen()
  const [repaired] = await scene.catalog.listSegments(1, t0, at(40))
  assert.deepEqual(repaired!.fragments, fragments)
  assert.deepEqual(await gapsOf(scene), gaps)
})

test('damaged frames that are kept are footage, marked in the index and in the file', async () => {
  const rows = new MemorySegmentRows()
  await using scene = new FootageScene(rows)
  const [segment] = await record(scene, 20, { gopFrames: 100, damaged: [[9, 12]] })
  const { fragments } = segment!
  const marked = fragments.filter(({ isDamaged }) => isDamaged)
  assert.ok(marked.length >= 2 && marked.every(({ startMs }) => startMs >= at(7.5) && startMs < at(12)))
  assert.deepEqual(await gapsOf(scene), [])
  await rows.reopen(segment!.id)
  await scene.catalog.repairOpen()
  assert.deepEqual((await scene.catalog.listSegments(1, t0, at(20)))[0]!.fragments, fragments)
})

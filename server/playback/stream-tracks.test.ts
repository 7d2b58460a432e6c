// A recorded stream has the same tracks from beginning to end, even if the footage does not.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FootageScene } from '../../test/playback/footage-scene.ts'
import { readBytes, StreamPlayer } from '../../test/playback/stream-player.ts'
import { syntheticStartMs as t0 } from '../../test/support/media/synthetic-frames.ts'
import { scanBoxes } from '../media/mp4/box-scanner.ts'
import { describeInitSegment } from '../media/mp4/describe-init.ts'
import { parseMovieFragment } from '../media/mp4/fragment-head.ts'
import { parseTimescales } from '../media/mp4/timescale.ts'

const user = { cameraId: 1, userId: 7, credential: { kind: 'personal', id: 3 } } as const
const at = (seconds: number) => t0 + seconds * 1000

test('a stream has the same tracks from beginning to end, even if the footage does not', async () => {
  await using scene = new FootageScene()
  await scene.record(0, 20)
  await scene.lose('camera_unreachable')
  await scene.record(30, 50, { audioSampleRate: 44100 })
  await scene.lose('camera_unreachable')
  await scene.record(60, 80)
  await scene.stop()
  const playback = scene.playback()
  const { id } = await playback.createStream({ ...user, startMs: at(0), endMs: at(80), isRecording: false })
  const player = new StreamPlayer(playback, id)
  await player.play()
  assert.ok(player.played.length >= 12)
  let end = { video: 0, audio: 0 }
  assert.equal(player.played.filter(({ range }) => !range).length > 6, true)
  for (const { init, bytes, discontinuity, uri, range } of player.played) {
    assert.equal(describeInitSegment(init).codecs, 'avc1.42c01e,mp4a.40.2')
    const timescales = parseTimescales(init)
    const times = new Map<number, { start: number; end: number }>()
    for (const box of scanBoxes(bytes).boxes) {
      if (box.type !== 'moof') continue
      for (const track of parseMovieFragment(bytes.subarray(box.offset, box.offset + box.bytes)).tracks) {
        const seconds = (ticks: number) => ticks / timescales.get(track.trackId)!
        const from = seconds(track.baseDecodeTime)
        const before = times.get(track.trackId)
        assert.ok(!before || Math.abs(from - before.end) < 0.001)
        times.set(track.trackId, { start: before?.start ?? from, end: from + seconds(track.duration) })
      }
    }
    const [video, audio] = [times.get(1)!, times.get(2)!]
    assert.ok(audio.end >= video.end - 0.001 && audio.end < video.end + 0.065, 'audio ends with the video')
    if (!range) {
      for (const [first, last] of [
        [0, 99],
        [bytes.length - 300, bytes.length - 1],
        [bytes.length - 20, bytes.length - 3],
      ] as const) {
        const part = await playback.openBytes(id, uri, `bytes=${first}-${last}`)
        assert.deepEqual(await readBytes(part), Buffer.from(bytes.subarray(first, last + 1)))
      }
    }
    assert.ok(video.start >= end.video - 0.001 && audio.start >= end.audio - 0.001, 'nothing overlaps')
    if (discontinuity === 0) assert.ok(Math.abs(audio.start - end.audio) < 0.001, 'silence continues without a hole')
    end = { video: video.end, audio: audio.end }
  }
})

test('a stream that was created without audio stays without it', async () => {
  await using scene = new FootageScene()
  await scene.record(0, 20)
  await scene.lose('camera_unreachable')
  const playback = scene.playback({ isRecording: async () => true })
  const { id } = await playback.createStream({ ...user, startMs: at(0), isRecording: true })
  const player = new StreamPlayer(playback, id)
  await player.play()
  await scene.record(30, 50, { audioSampleRate: 44100 })
  await scene.stop()
  await player.play()
  assert.ok(player.played.at(-1)!.discontinuity === 1)
  for (const { init, bytes } of player.played) {
    assert.equal(describeInitSegment(init).codecs, 'avc1.42c01e')
    for (const box of scanBoxes(bytes).boxes) {
      if (box.type !== 'moof') continue
      const { tracks } = parseMovieFragment(bytes.subarray(box.offset, box.offset + box.bytes))
      assert.deepEqual(
        tracks.map(({ trackId }) => trackId),
        [1],
      )
    }
  }
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FootageScene } from '../../test/playback/footage-scene.ts'
import { parsePlaylist } from '../../test/playback/parse-playlist.ts'
import { type PlayedEntry, readBytes, StreamPlayer } from '../../test/playback/stream-player.ts'
import { syntheticStartMs as t0 } from '../../test/support/media/synthetic-frames.ts'
import { scanBoxes } from '../media/mp4/box-scanner.ts'
import { describeInitSegment } from '../media/mp4/describe-init.ts'
import { parseMovieFragment } from '../media/mp4/fragment-head.ts'
import { parseFragmentSamples } from '../media/mp4/fragment-samples.ts'

const user = { cameraId: 1, userId: 7, credential: { kind: 'personal', id: 3 } } as const
const at = (seconds: number) => t0 + seconds * 1000
const secondsOf = (entries: readonly { seconds: number }[]) => entries.reduce((sum, { seconds }) => sum + seconds, 0)
const bytesOf = (entries: readonly PlayedEntry[]) => entries.reduce((sum, { bytes }) => sum + bytes.length, 0)

function moofOf({ bytes }: PlayedEntry): Uint8Array {
  const box = scanBoxes(bytes).boxes.find(({ type }) => type === 'moof')!
  return bytes.subarray(box.offset, box.offset + box.bytes)
}

for (const speed of [2, 4, 8, 16]) {
  test(`speed ${speed} plays only key frames, shortened, at the same bit rate and across a gap`, async () => {
    await using scene = new FootageScene()
    // Key frames of some kB between empty frames: at high speeds they exceed the bit rate.
    await scene.record(0, 130, { audioSampleRate: 16000, gopFrames: 12 })
    await scene.lose('camera_unreachable')
    await scene.record(200, 260, { width: 128 })
    await scene.stop()
    scene.clock.ms = at(400)
    const playback = scene.playback()
    const range = { startMs: at(20), endMs: at(260), isRecording: true }
    const recorded = await playback.createStream({ ...user, ...range })
    const whole = await new StreamPlayer(playback, recorded.id).play()
    const { id } = await playback.createStream({ ...user, ...range })
    await playback.setSpeed(id, speed)
    const player = new StreamPlayer(playback, id)
    player.speed = speed
    const played = await player.play()
    assert.equal(player.playlist.isEnded, true)
    assert.ok(Math.abs(secondsOf(played) - 170 / speed) < 1 / speed, `${secondsOf(played)} s`)
    // The first entry is a single frame, so that playback can start.
    const rate = bytesOf(played.slice(1)) / secondsOf(played.slice(1))
    assert.ok(rate <= (1.02 * bytesOf(whole)) / secondsOf(whole), `${rate} bytes a second`)
    assert.deepEqual(new Set(played.map(({ discontinuity }) => discontinuity)), new Set([0, 1]))
    let endTime: number | undefined
    let keyFrames = 0
    for (const entry of played) {
      assert.equal(describeInitSegment(entry.init).codecs, 'avc1.42c01e', 'no audio')
      const moof = moofOf(entry)
      const [track, ...others] = parseMovieFragment(moof).tracks
      assert.equal(others.length, 0)
      const { isKey, compositionOffsets } = parseFragmentSamples(moof)[0]!
      assert.ok(isKey.every(Boolean) && compositionOffsets.every((offset) => offset === 0))
      if (entry.discontinuity === played[0]!.discontinuity && endTime !== undefined)
        assert.equal(track!.baseDecodeTime, endTime)
      else if (endTime !== undefined && track!.baseDecodeTime < endTime) assert.fail('times go back')
      endTime = track!.baseDecodeTime + track!.duration
      keyFrames += isKey.length
    }
    assert.ok(keyFrames >= secondsOf(played), `${keyFrames} key frames`)
  })
}

test('a change of speed continues after the fetched entry with a discontinuity and survives a restart', async () => {
  await using scene = new FootageScene()
  await scene.record(0, 300, { audioSampleRate: 16000 })
  const playback = scene.playback()
  const { id } = await playback.createStream({ ...user, startMs: at(0), isRecording: true })
  const player = new StreamPlayer(playback, id)
  await player.load()
  await player.fetch(3)
  await player.load()
  await player.fetch(2)
  const { endMs: fetchedMs } = (await scene.catalog.listSegments(1, at(0), at(1)))[0]!
  assert.ok(fetchedMs > at(14))
  await playback.setSpeed(id, 8)
  assert.equal((await playback.getStreamInfo(id, 7)).speed, 8)
  player.moveTo(scene.playback())
  player.speed = 8
  const { entries } = await player.load()
  assert.equal(entries[0]!.dateMs, at(14), 'two of a second, three of four')
  assert.equal(entries[0]!.discontinuity, 1)
  await player.fetch(2)
  const info = await player.source.getStreamInfo(id, 7)
  assert.deepEqual([info.speed, info.currentMs], [8, at(15)])
  assert.ok(Math.abs(info.positionMs - (info.currentMs - at(0))) < 100)
  await player.source.setSpeed(id, 1)
  player.speed = 1
  const back = await player.load()
  assert.ok(back.entries[0]!.dateMs! > info.currentMs)
  assert.equal(back.entries[0]!.discontinuity, 2)
  await player.play()
  assert.ok(secondsOf(player.played) > 100)
  // A player that starts now.
  const fresh = new StreamPlayer(player.source, id)
  await fresh.load()
  await fresh.fetch(3)
})

test('a player that has not reloaded the playlist yet can still fetch the listed files', async () => {
  await using scene = new FootageScene()
  await scene.record(0, 100)
  await scene.stop()
  scene.clock.ms = at(200)
  const playback = scene.playback()
  const { id } = await playback.createStream({ ...user, startMs: at(0), endMs: at(100), isRecording: true })
  const { entries } = parsePlaylist(await playback.playlist(id))
  await playback.setSpeed(id, 4)
  const { uri, bytes, offset } = entries.at(-1)!
  const range = `bytes=${offset}-${offset + bytes - 1}`
  assert.equal((await readBytes(await playback.openBytes(id, uri, range))).length, bytes)
  assert.equal((await playback.getStreamInfo(id, 7)).currentMs, at(0), 'which is not where the stream is')
})

test('a change of speed at the very end plays the last entry again', async () => {
  await using scene = new FootageScene()
  await scene.record(0, 30)
  await scene.stop()
  scene.clock.ms = at(200)
  const playback = scene.playback()
  const { id } = await playback.createStream({ ...user, startMs: at(0), endMs: at(30), isRecording: true })
  const player = new StreamPlayer(playback, id)
  const recorded = await player.play()
  await playback.setSpeed(id, 2)
  const { entries, isEnded } = parsePlaylist(await playback.playlist(id))
  assert.equal(isEnded, true)
  assert.equal(secondsOf(entries), recorded.at(-1)!.seconds / 2)
})

test('groups of pictures longer than an entry repeat their key frame', async () => {
  await using scene = new FootageScene()
  await scene.record(0, 100, { gopFrames: 25 * 40 })
  await scene.stop()
  scene.clock.ms = at(200)
  const playback = scene.playback()
  const { id } = await playback.createStream({ ...user, startMs: at(0), endMs: at(100), isRecording: true })
  await playback.setSpeed(id, 2)
  const player = new StreamPlayer(playback, id)
  player.speed = 2
  const played = await player.play()
  assert.ok(played.length >= 6)
  assert.ok(Math.abs(secondsOf(played) - 50) < 0.5)
})

test('byte ranges of key frames match the whole file', async () => {
  await using scene = new FootageScene()
  await scene.record(0, 60)
  await scene.stop()
  const playback = scene.playback()
  const { id } = await playback.createStream({ ...user, startMs: at(0), endMs: at(60), isRecording: true })
  await playback.setSpeed(id, 4)
  const { uri } = parsePlaylist(await playback.playlist(id)).entries[0]!
  const whole = await readBytes(await playback.openBytes(id, uri))
  for (const [first, last] of [
    [0, 0],
    [10, 300],
    [200, whole.length - 1],
  ]) {
    const part = await readBytes(await playback.openBytes(id, uri, `bytes=${first}-${last}`))
    assert.ok(part.equals(whole.subarray(first, last! + 1)))
  }
  assert.equal((await playback.openBytes(id, uri, `bytes=${whole.length}-`)).status, 416)
  await assert.rejects(playback.openBytes(id, 'pictures-999.mp4'), { kind: 'not_found' })
  await assert.rejects(playback.openBytes(id, 'init-999.mp4'), { kind: 'not_found' })
})

test('other speeds are rejected, and slow motion refers to the player', async () => {
  await using scene = new FootageScene()
  await scene.record(0, 20)
  const playback = scene.playback()
  const { id } = await playback.createStream({ ...user, startMs: at(0), isRecording: true })
  for (const speed of [0, -1, 3, 32, 1.5, Number.NaN])
    await assert.rejects(playback.setSpeed(id, speed), { kind: 'invalid', message: /one of 1, 2, 4, 8, 16/ })
  await assert.rejects(playback.setSpeed(id, 0.5), {
    kind: 'invalid',
    message: /For slow motion, change the playback rate of the player/,
  })
})

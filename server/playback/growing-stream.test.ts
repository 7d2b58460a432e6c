import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FootageScene } from '../../test/playback/footage-scene.ts'
import { parsePlaylist } from '../../test/playback/parse-playlist.ts'
import { StreamPlayer } from '../../test/playback/stream-player.ts'
import { testEachDatabase } from '../../test/postgres/each-database.ts'
import { syntheticStartMs as t0 } from '../../test/support/media/synthetic-frames.ts'

const user = { cameraId: 1, userId: 7, credential: { kind: 'personal', id: 3 } } as const
const at = (seconds: number) => t0 + seconds * 1000
const hourS = 3600

/** A small frame every eight seconds. */
const sparse = { frameRate: 0.125, gopFrames: 1 } as const

test('a stream without end lists three entries, then about an hour ahead of the fetched entries', async () => {
  await using scene = new FootageScene()
  await scene.record(0, 5 * hourS, sparse)
  const playback = scene.playback()
  const { id } = await playback.createStream({ ...user, startMs: at(5), isRecording: true })
  const player = new StreamPlayer(playback, id)
  assert.equal((await player.load()).entries.length, 3)
  assert.equal((await player.load()).entries.length, 3, 'reloading the playlist adds nothing')
  await player.fetch(1)
  const aheadS = async () => {
    const { entries } = await player.load()
    const next = player.played.at(-1)!.sequence + 1
    return entries.filter(({ sequence }) => sequence >= next).reduce((sum, { seconds }) => sum + seconds, 0)
  }
  let mostBytes = 0
  for (let i = 0; i < 46; i++) {
    const seconds = await aheadS()
    assert.ok(seconds <= hourS + 10)
    const { entries, isEnded } = player.playlist
    const newestMs = entries.findLast(({ dateMs }) => dateMs !== undefined)!.dateMs!
    assert.ok(seconds > hourS - 10 || newestMs > at(4.9 * hourS), `${seconds} s are ahead`)
    assert.equal(isEnded, false)
    mostBytes = Math.max(mostBytes, (await playback.playlist(id)).length)
    await player.fetch(50)
  }
  const played = player.played.reduce((sum, { seconds }) => sum + seconds, 0)
  assert.ok(Math.abs(played - (5 * hourS - 4)) < 20, `${played} s`)
  const { entries } = player.playlist
  assert.ok(entries[0]!.sequence > 0, 'entries hours behind were removed from the playlist')
  assert.ok(entries[0]!.dateMs! < at(3 * hourS), 'entries of the last two hours are still listed')
  assert.ok(mostBytes < 400_000, `${mostBytes} bytes`)
})

testEachDatabase('after a restart, a stream continues with the entries it had listed', async (t, { openStore }) => {
  const { store } = await openStore(t)
  await store.users.insert({ id: 7, email: 'a@example.org', firstName: 'A', lastName: 'B', passwordHash: 'x' })
  const source = { url: 'rtsp://127.0.0.1/', username: null, password: null }
  await store.cameras.insert({ id: 1, ownerId: 7, name: 'Door', type: 'h264', ...source })
  await using scene = new FootageScene(store.segments, store.streams)
  await scene.record(0, 3.5 * hourS, sparse)
  const playback = scene.playback()
  const { id } = await playback.createStream({ ...user, startMs: at(5), isRecording: true })
  const player = new StreamPlayer(playback, id)
  for (let i = 0; i < 36; i++) {
    await player.load()
    await player.fetch(90)
    // The player continues to compare each playlist with the previous one.
    if (i % 5 === 4) player.moveTo(scene.playback())
  }
  assert.ok(player.playlist.entries[0]!.sequence > 0)
  const played = player.played.reduce((sum, { seconds }) => sum + seconds, 0)
  assert.ok(Math.abs(played - (3.5 * hourS - 4)) < 20, `${played} s`)
})

test('pause freezes the playlist, even across a restart; play lets it grow', async () => {
  await using scene = new FootageScene()
  await scene.record(0, 60)
  const playback = scene.playback()
  const { id } = await playback.createStream({ ...user, startMs: at(5), isRecording: true })
  const player = new StreamPlayer(playback, id)
  await player.load()
  await player.fetch(3)
  await player.load()
  await playback.pause(id)
  const held = await playback.playlist(id)
  await player.fetch(10)
  await scene.record(60, 90)
  assert.equal(await playback.playlist(id), held)
  const restarted = scene.playback()
  assert.equal(await restarted.playlist(id), held, 'a restart changes nothing')
  await restarted.play(id)
  player.moveTo(restarted)
  await player.load()
  await player.fetch(1)
  const grown = await restarted.playlist(id)
  assert.ok(grown.startsWith(held) && grown.length > held.length)
})

test('a range of a month ends when its player reaches the end', async () => {
  await using scene = new FootageScene()
  const dayS = 24 * hourS
  await scene.record(0, 200, sparse)
  await scene.lose('camera_unreachable')
  await scene.record(20 * dayS, 20 * dayS + 200, sparse)
  await scene.stop()
  scene.clock.ms = at(40 * dayS)
  const playback = scene.playback()
  const { id } = await playback.createStream({ ...user, startMs: at(0), endMs: at(30 * dayS), isRecording: true })
  const first = parsePlaylist(await playback.playlist(id))
  assert.deepEqual([first.entries.length, first.isEnded], [3, false])
  const player = new StreamPlayer(playback, id)
  const played = await player.play()
  assert.equal(player.playlist.isEnded, true)
  assert.ok(Math.abs(played.reduce((sum, { seconds }) => sum + seconds, 0) - 400) < 1)
  assert.equal(played.at(-1)!.discontinuity, 1)
})

test('a stream without end continues seamlessly into new footage', async () => {
  await using scene = new FootageScene()
  await scene.record(0, 30)
  const playback = scene.playback()
  const { id } = await playback.createStream({ ...user, startMs: at(5), isRecording: true })
  const player = new StreamPlayer(playback, id)
  for (const end of [70, 75, 140]) {
    await player.play(3)
    await scene.record(Math.max(end - 50, 30), end)
  }
  await player.play(3)
  const sequences = player.played.map(({ sequence }) => sequence)
  assert.deepEqual(sequences, Array.from(sequences.keys()))
  assert.equal(player.playlist.isEnded, false)
  await scene.stop()
  player.moveTo(scene.playback({ isRecording: async () => false }))
  await player.play(3)
  assert.equal(player.playlist.isEnded, true)
})

test('footage that is deleted during playback is removed from the playlist, and later footage plays', async () => {
  await using scene = new FootageScene()
  await scene.record(0, 300)
  const playback = scene.playback()
  const { id } = await playback.createStream({ ...user, startMs: at(0), isRecording: true })
  const player = new StreamPlayer(playback, id)
  await player.load()
  await player.fetch(3)
  await player.load()
  const segments = await scene.catalog.listSegments(1, at(0), at(130))
  await scene.deleteSegments(segments.slice(0, 2).map(({ id }) => id))
  const goneMs = segments[1]!.endMs
  await assert.rejects(player.fetch(1), { kind: 'not_found' })
  const { entries } = await player.load()
  assert.ok(entries[0]!.dateMs! >= goneMs - 1000, 'deleted footage is not listed')
  await player.play()
  assert.ok(player.played.at(-1)!.sequence > entries[0]!.sequence + 10)
  const restarted = new StreamPlayer(scene.playback(), id)
  await restarted.load()
  await restarted.play()
})

test('a stream whose beginning was deleted while the server was down continues with new numbers', async () => {
  await using scene = new FootageScene()
  await scene.record(0, 300)
  const playback = scene.playback()
  const { id } = await playback.createStream({ ...user, startMs: at(0), isRecording: true })
  const player = new StreamPlayer(playback, id)
  await player.load()
  await player.fetch(2)
  await player.load()
  const segments = await scene.catalog.listSegments(1, at(0), at(130))
  await scene.deleteSegments(segments.slice(0, 1).map(({ id }) => id))
  player.moveTo(scene.playback())
  const { entries } = await player.load()
  assert.ok(entries[0]!.dateMs! >= segments[0]!.endMs - 1000)
  const count = player.played.length
  await player.play()
  assert.ok(player.played.length > count + 10)
})

test('the playlist of a past range loses the front that is deleted, and what remains plays', async () => {
  await using scene = new FootageScene()
  await scene.record(0, 300)
  const playback = scene.playback()
  const { id } = await playback.createStream({ ...user, startMs: at(0), endMs: at(290), isRecording: true })
  const paused = new StreamPlayer(playback, id)
  const listed = (await paused.load()).entries
  await paused.fetch(2)
  const segments = await scene.catalog.listSegments(1, at(0), at(130))
  await scene.deleteSegments(segments.slice(0, 2).map(({ id }) => id))
  await assert.rejects(paused.fetch(3), { kind: 'not_found' })
  // Its player loads it again from the beginning, or somebody else opens it.
  const player = new StreamPlayer(playback, id)
  const { entries, isEnded } = await player.load()
  assert.ok(isEnded && entries[0]!.sequence > 0 && entries[0]!.dateMs! >= segments[1]!.endMs - 1000)
  assert.deepEqual(entries.at(-1), listed.at(-1), 'later entries keep their numbers and times')
  await player.play()
  assert.equal(player.played.length, entries.length)
})

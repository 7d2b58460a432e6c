// Recorded streams over HTTP: the playlist, the bytes, access rights and the timeline.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { FootageScene } from '../../test/playback/footage-scene.ts'
import { parsePlaylist } from '../../test/playback/parse-playlist.ts'
import { readBody, readBytes, StreamPlayer } from '../../test/playback/stream-player.ts'
import { testEachDatabase } from '../../test/postgres/each-database.ts'
import { syntheticStartMs as t0 } from '../../test/support/media/synthetic-frames.ts'
import { checkArchive, isClean } from '../archive/check.ts'
import { scanBoxes } from '../media/mp4/box-scanner.ts'
import { parseMovieFragment } from '../media/mp4/fragment-head.ts'
import type { Playback } from './playback.ts'

const ffprobe = '/usr/bin/ffprobe'
const skip = existsSync(ffprobe) ? false : `${ffprobe} is not installed`

const user = { cameraId: 1, userId: 7, credential: { kind: 'personal', id: 3 } } as const
const at = (seconds: number) => t0 + seconds * 1000

test('the playlist of a range is complete and begins with the group of pictures that contains the start', async () => {
  await using scene = new FootageScene()
  await scene.record(0, 100, { gopFrames: 50 })
  await scene.stop()
  scene.clock.ms = at(200)
  const playback = scene.playback()
  const { id, urls } = await playback.createStream({ ...user, startMs: at(11), endMs: at(81), isRecording: true })
  assert.match(id, /^[0-9a-f]{32}$/)
  assert.equal(urls.playlist, `https://nightjar.test/recording/streams/${id}/hls/playlist.m3u8`)
  const { entries, head, isEnded } = parsePlaylist(await playback.playlist(id))
  assert.equal(isEnded, true)
  assert.ok(head.includes('#EXT-X-PLAYLIST-TYPE:VOD'))
  assert.equal(entries[0]!.dateMs, at(10))
  assert.ok(
    Math.abs(entries.reduce((sum, { seconds }) => sum + seconds, 0) - 71.52) < 0.01,
    'complete fragments up to the end',
  )
  const target = Number(head.find((line) => line.startsWith('#EXT-X-TARGETDURATION'))!.split(':')[1])
  assert.ok(entries.every(({ seconds }) => Math.round(seconds) <= target))
  assert.ok(entries.filter(({ seconds }) => seconds >= 4 && seconds <= 6).length >= entries.length - 6)
  assert.equal(entries.filter(({ tags }) => tags.includes('#EXT-X-DISCONTINUITY')).length, 0)
  assert.equal(entries.filter(({ tags }) => tags.some((tag) => tag.startsWith('#EXT-X-MAP'))).length, 1)
})

test('decode times continue across files, and a gap is a discontinuity', async () => {
  await using scene = new FootageScene()
  await scene.record(0, 130, { audioSampleRate: 44100, start90k: 500_000 })
  await scene.lose('camera_unreachable')
  await scene.record(200, 230, { audioSampleRate: 44100, start90k: 7 })
  await scene.stop()
  const playback = scene.playback()
  const { id } = await playback.createStream({ ...user, startMs: at(50), isRecording: false })
  const { entries, isEnded } = parsePlaylist(await playback.playlist(id))
  assert.equal(isEnded, true)
  assert.ok(new Set(entries.map(({ uri }) => uri)).size >= 3)
  const gaps = entries.filter(({ tags }) => tags.includes('#EXT-X-DISCONTINUITY'))
  assert.deepEqual(
    gaps.map(({ dateMs }) => dateMs),
    [at(200)],
  )
  let expected: { video: number; audio: number } | undefined
  for (const { uri, bytes, offset, tags } of entries) {
    const range = `bytes=${offset}-${offset + bytes - 1}`
    const data = await readBytes(await playback.openBytes(id, uri, range))
    assert.equal(data.length, bytes)
    if (tags.includes('#EXT-X-DISCONTINUITY')) expected = undefined
    for (const box of scanBoxes(data).boxes) {
      if (box.type !== 'moof') continue
      const { tracks } = parseMovieFragment(data.subarray(box.offset, box.offset + box.bytes))
      const [video, audio] = tracks
      if (expected) {
        assert.equal(video!.baseDecodeTime, expected.video)
        assert.equal(audio!.baseDecodeTime, expected.audio)
      }
      expected = {
        video: video!.baseDecodeTime + video!.duration,
        audio: audio!.baseDecodeTime + audio!.duration,
      }
    }
  }
})

test('any byte range of a file matches the whole file', async () => {
  await using scene = new FootageScene()
  await scene.record(0, 100, { audioSampleRate: 8000 })
  await scene.stop()
  const playback = scene.playback()
  const { id } = await playback.createStream({ ...user, startMs: at(0), endMs: at(100), isRecording: false })
  const { entries } = parsePlaylist(await playback.playlist(id))
  const { uri } = entries.at(-1)!
  const bufferBytes = fc.integer({ min: 100, max: 20_000 })
  const answer = await playback.openBytes(id, uri)
  assert.equal(answer.status, 200)
  const whole = await readBytes(answer)
  assert.equal(whole.length, answer.totalBytes)
  await fc.assert(
    fc.asyncProperty(fc.nat(whole.length - 1), fc.nat(whole.length - 1), bufferBytes, async (a, b, bytes) => {
      const [first, last] = a < b ? [a, b] : [b, a]
      const part = await playback.openBytes(id, uri, `bytes=${first}-${last}`)
      assert.equal(part.status, 206)
      assert.ok((await readBytes(part, bytes)).equals(whole.subarray(first, last + 1)))
    }),
    { numRuns: 200 },
  )
  assert.equal((await playback.openBytes(id, uri, `bytes=${whole.length}-`)).status, 416)
  const early = await playback.openBytes(id, uri)
  assert.ok(early.status === 200)
  await early.body[Symbol.asyncDispose]()
})

test('a playlist whose end is in the future ends after that time', async () => {
  await using scene = new FootageScene()
  await scene.record(0, 20)
  const playback = scene.playback()
  const { id } = await playback.createStream({ ...user, startMs: at(10), endMs: at(30), isRecording: true })
  assert.equal(parsePlaylist(await playback.playlist(id)).isEnded, false)
  await scene.record(20, 50)
  const { entries, isEnded } = parsePlaylist(await playback.playlist(id))
  assert.equal(isEnded, true)
  assert.ok(Math.abs(entries.reduce((sum, { seconds }) => sum + seconds, 0) - 20) < 0.01)
})

test('a start inside a gap begins at the next footage; an empty range is not found', async () => {
  await using scene = new FootageScene()
  await scene.record(0, 20)
  await scene.lose('camera_unreachable')
  await scene.record(40_000, 40_020)
  await scene.stop()
  const playback = scene.playback()
  const { id } = await playback.createStream({ ...user, startMs: at(1000), isRecording: true })
  assert.equal(parsePlaylist(await playback.playlist(id)).entries[0]!.dateMs, at(40_000))
  const none = { kind: 'not_found' }
  await assert.rejects(playback.createStream({ ...user, startMs: at(30), endMs: at(39_000), isRecording: true }), none)
  await assert.rejects(playback.createStream({ ...user, startMs: at(50_000), isRecording: true }), none)
  await assert.rejects(playback.createStream({ ...user, cameraId: 2, startMs: at(0), isRecording: true }), none)
})

test('a stream that begins long before the footage, or has a gap of a year, is searched in a few steps', async () => {
  await using scene = new FootageScene()
  const yearS = 365 * 86_400
  await scene.record(0, 20)
  await scene.lose('camera_unreachable')
  await scene.record(yearS, yearS + 20)
  await scene.stop()
  const { catalog } = scene
  let lookUps = 0
  const listSegments = catalog.listSegments.bind(catalog)
  catalog.listSegments = (...range) => {
    lookUps++
    return listSegments(...range)
  }
  const playback = scene.playback()
  for (const startMs of [at(0), 0, Date.parse('0001-01-01T00:00:00Z')]) {
    const { id } = await playback.createStream({ ...user, startMs, isRecording: true })
    lookUps = 0
    const { currentMs } = await playback.getStreamInfo(id, user.userId)
    assert.equal(currentMs, at(0))
    const dates = (await new StreamPlayer(playback, id).play()).flatMap(({ dateMs }) => dateMs ?? [])
    assert.deepEqual([dates[0], dates.at(-1)], [at(0), at(yearS)])
    assert.ok(lookUps < 1000, `${lookUps} look-ups`)
  }
})

test('a stream from the current time can be created while the camera records and shows new footage', async () => {
  await using scene = new FootageScene()
  await scene.record(0, 20)
  const playback = scene.playback()
  scene.clock.ms = at(24)
  const none = { kind: 'not_found' }
  const ask = { ...user, isRecording: true, isWriting: true }
  await assert.rejects(playback.createStream({ ...ask, startMs: at(35) }), none)
  await assert.rejects(playback.createStream({ ...ask, startMs: at(24), isWriting: false }), none)
  await assert.rejects(playback.createStream({ ...ask, startMs: at(24), endMs: at(30) }), none)
  const { id } = await playback.createStream({ ...ask, startMs: at(24) })
  const early = await playback.createStream({ ...ask, cameraId: 2, startMs: at(26) })
  assert.equal(early.endMs, undefined, 'even before the first footage of the camera')
  await scene.record(20, 80)
  const { entries, isEnded } = parsePlaylist(await playback.playlist(id))
  assert.equal(isEnded, false)
  assert.ok(entries[0]!.dateMs! <= at(24) && entries[0]!.dateMs! > at(20))
  assert.equal((await playback.getStreamInfo(id, 7, 'node-1')).state, 'playing')
  await assert.rejects(playback.getStreamInfo(id, 7, 'another'), none)
})

test('the right to watch is checked on every request, and a stream ends after a day', async () => {
  await using scene = new FootageScene()
  await scene.record(0, 20)
  let mayView = true
  const live = new Set(['personal 3'])
  const playback = scene.playback({ canView: async () => mayView, isLive: ({ kind, id }) => live.has(`${kind} ${id}`) })
  const { id } = await playback.createStream({ ...user, startMs: at(0), isRecording: true })
  const [entry] = parsePlaylist(await playback.playlist(id)).entries
  const none = { kind: 'not_found' }
  mayView = false
  await assert.rejects(playback.playlist(id), none)
  await assert.rejects(playback.openBytes(id, entry!.uri), none)
  await assert.rejects(playback.getStreamInfo(id, 7), none)
  await assert.rejects(playback.pause(id), none)
  mayView = true
  await playback.playlist(id)
  live.clear() // the credential has ended
  await assert.rejects(playback.playlist(id), none)
  await assert.rejects(playback.checkAccess(id), none)
  live.add('personal 3')
  await playback.checkAccess(id)
  await assert.rejects(playback.getStreamInfo(id, 8), none)
  await assert.rejects(playback.openBytes(id, '999.mp4'), none)
  await assert.rejects(playback.openBytes(id, '../1.mp4'), none)
  await assert.rejects(playback.playlist('0'.repeat(32)), none)
  await assert.rejects(playback.setSpeed(id, 3), { kind: 'invalid' })
  scene.clock.ms = at(86_500)
  await assert.rejects(playback.playlist(id), none)
})

test('the current time follows the fetched entries', async () => {
  await using scene = new FootageScene()
  await scene.record(0, 20)
  await scene.lose('no_frames')
  await scene.record(100, 130)
  await scene.stop()
  const playback = scene.playback()
  const { id } = await playback.createStream({ ...user, startMs: at(10), isRecording: true })
  assert.deepEqual(await playback.getStreamInfo(id, 7), {
    currentMs: at(10),
    positionMs: 0,
    speed: 1,
    state: 'playing',
  })
  const player = new StreamPlayer(playback, id)
  await player.load()
  await player.fetch(3)
  const { entries } = await player.load()
  const index = entries.findIndex(({ dateMs }) => dateMs === at(100))
  const { uri, range } = entries[index]!
  await readBytes(await playback.openBytes(id, uri, `bytes=${range!.offset}-${range!.offset + 99}`))
  await playback.pause(id)
  const info = { currentMs: at(100), positionMs: 10_000, speed: 1, state: 'paused' }
  assert.deepEqual(await playback.getStreamInfo(id, 7), info)
  assert.deepEqual(await scene.playback().getStreamInfo(id, 7), info)
})

test('the timeline includes the open file and the reasons for gaps', async () => {
  await using scene = new FootageScene()
  await scene.record(0, 20)
  await scene.lose('camera_unreachable')
  await scene.record(100, 130)
  const playback = scene.playback()
  const { segments, gaps } = await playback.timeline(1, at(-100), at(1000))
  assert.deepEqual(segments[0], { startMs: at(0), endMs: at(20) })
  assert.equal(segments[1]!.startMs, at(100))
  assert.ok(segments[1]!.endMs >= at(128))
  assert.deepEqual(gaps, [{ startMs: at(20), endMs: at(100), reason: 'camera_unreachable' }])
  assert.deepEqual((await playback.timeline(1, at(30), at(40))).gaps, [
    { startMs: at(30), endMs: at(40), reason: 'camera_unreachable' },
  ])
  assert.equal((await playback.info(1))!.recordingStartMs, at(0))
  assert.equal(await playback.info(2), undefined)
})

testEachDatabase('record, watch, pause, restart, check and delete with the real store', async (t, { openStore }) => {
  const { store } = await openStore(t)
  await store.users.insert({ id: 7, email: 'a@example.org', firstName: 'A', lastName: 'B', passwordHash: 'x' })
  const camera = {
    id: 1,
    ownerId: 7,
    name: 'Door',
    type: 'h264',
    url: 'rtsp://127.0.0.1/',
    username: null,
    password: null,
  } as const
  await store.cameras.insert(camera)
  await using scene = new FootageScene(store.segments, store.streams)
  await scene.record(0, 130, { audioSampleRate: 16000 })
  await scene.lose('camera_unreachable')
  await scene.record(200, 230)
  const playback = scene.playback()
  const { id } = await playback.createStream({ ...user, startMs: at(100), isRecording: true })
  await playback.pause(id)
  const text = await playback.playlist(id)
  await scene.stop()
  const restarted = scene.playback()
  assert.equal(await restarted.playlist(id), text)
  assert.equal((await restarted.getStreamInfo(id, 7)).state, 'paused')
  const { uri, bytes, offset } = parsePlaylist(text).entries.at(-1)!
  assert.equal(
    (await readBytes(await restarted.openBytes(id, uri, `bytes=${offset}-${offset + bytes - 1}`))).length,
    bytes,
  )
  assert.deepEqual((await restarted.timeline(1, at(0), at(300))).segments, [
    { startMs: at(0), endMs: at(130) },
    { startMs: at(200), endMs: at(230) },
  ])
  const { places } = scene
  const report = await checkArchive({ rows: store.segments, places, clock: scene.clock, isDeep: true })
  assert.ok(isClean(report), JSON.stringify(report))
  assert.ok(report.segments >= 4)
  await scene.catalog.removeCamera(1)
  assert.equal(await scene.catalog.bounds(1), undefined)
  await assert.rejects(restarted.openBytes(id, uri), { kind: 'not_found' })
})

/** Serves playback over HTTP, as a player sees it. */
async function serve(playback: Playback) {
  const server = createServer((request, response) => {
    const [, id = '', file = ''] = request.url!.split('/')
    const answer = async () => {
      if (file.endsWith('.m3u8')) return void response.end(await playback.playlist(id))
      const bytes = await playback.openBytes(id, file, request.headers.range)
      if (bytes.status === 416) return void response.writeHead(416).end()
      const { firstByte, lastByte, totalBytes, status } = bytes
      response.writeHead(status, {
        'content-length': lastByte - firstByte + 1,
        'accept-ranges': 'bytes',
        'content-range': `bytes ${firstByte}-${lastByte}/${totalBytes}`,
      })
      response.end(await readBody(bytes.body))
    }
    answer().catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}

test('an outage of several days has one reason, whatever part of it is asked for', async () => {
  await using scene = new FootageScene()
  await scene.record(0, 10)
  await scene.lose('server_down')
  const day = 86_400
  await scene.record(3.5 * day, 3.5 * day + 10)
  await scene.stop()
  const playback = scene.playback()
  for (const [start, end] of [
    [0, day],
    [5, 2 * day],
    [day, 1.1 * day],
    [0, 4 * day],
  ] as const) {
    const { gaps } = await playback.timeline(1, at(start), at(end))
    assert.deepEqual(
      gaps.map(({ reason }) => reason),
      ['server_down'],
    )
  }
})

test('ffprobe plays the stream across files and gaps with increasing times', { skip }, async () => {
  await using scene = new FootageScene()
  await scene.record(0, 130, { audioSampleRate: 48000, start90k: 123 })
  await scene.lose('camera_unreachable')
  await scene.record(200, 230, { audioSampleRate: 48000 })
  await scene.stop()
  const playback = scene.playback()
  const { id } = await playback.createStream({ ...user, startMs: at(50), endMs: at(230), isRecording: false })
  await using server = await serve(playback)
  const args = '-v error -show_entries packet=codec_type,dts_time:format=duration -of json'.split(' ')
  const { stdout, stderr } = await promisify(execFile)(ffprobe, [...args, `${server.url}/${id}/playlist.m3u8`], {
    maxBuffer: 1e9,
  })
  assert.equal(stderr, '')
  const { packets, format } = JSON.parse(stdout) as {
    packets: { codec_type: string; dts_time: string }[]
    format: { duration: string }
  }
  assert.ok(Math.abs(Number(format.duration) - 110) < 0.01)
  const video = packets.filter(({ codec_type }) => codec_type === 'video').map(({ dts_time }) => Number(dts_time))
  assert.equal(video.length, 110 * 25)
  for (const kind of ['video', 'audio']) {
    const times = packets.filter(({ codec_type }) => codec_type === kind).map(({ dts_time }) => Number(dts_time))
    assert.ok(times.length > 1000)
    for (let i = 1; i < times.length; i++)
      assert.ok(times[i]! > times[i - 1]!, `${kind} ${times[i]} after ${times[i - 1]}`)
  }
  assert.ok(Math.abs(video.at(-1)! - video[0]! - 110) < 0.3)
})

// The first live playlist of a player: what is in memory is used if it is enough, otherwise the server waits; players
// that say they can start early wait only for what they need.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Camera } from '../../contract/camera.ts'
import type { Recording } from '../../contract/recording.ts'
import { type FakeCamera, openFakeCamera } from '../fake-camera/fake-camera.ts'
import { checkPlaylist } from '../playback/check-playlist.ts'
import { eventually, openServer, type ServerUnderTest } from '../server-under-test.ts'
import { openViewer } from './browser.ts'

const groups = [
  { name: 'one', seconds: 1 },
  { name: 'two', seconds: 2 },
  { name: 'four', seconds: 4 },
] as const

let source: FakeCamera
let server: ServerUnderTest
const ids = new Map<string, number>()
/** When the camera `watched` sent each of its frames. */
const sentMs: number[] = []

before(async () => {
  const picture = { scene: 'yard', width: 320, height: 180, framesPerSecond: 10 } as const
  // On a busy machine, it leaves frames out. Late ones would be dated as those of a slow clock.
  const video = { ...picture, hasAudio: true, stampsTrueTime: true } as const
  const names = [...groups, { name: 'watched', seconds: 2 }, { name: 'reconnected', seconds: 2 }]
  source = await openFakeCamera({
    onSent: (name) => void (name === 'watched' && sentMs.push(performance.now())),
    streams: names.map(({ name, seconds }) => ({ ...video, name, gopFrames: seconds * 10 })),
  })
  server = await openServer()
  // A recorded camera stays connected.
  for (const { name } of names) {
    ids.set(name, await server.addCamera(name, source.url(name), '--record', 'P1D'))
  }
  await eventually('enough footage of each camera to fill the buffers', 90_000, async () => {
    const lengths = [...groups, { name: 'watched' }].map(async ({ name }) => {
      const path = `/v1/cameras/${ids.get(name)}/recording/`
      const { json } = await server.request<Recording>(path)
      return Date.parse(json.recording_end ?? '') - Date.parse(json.recording_start ?? '')
    })
    return (await Promise.all(lengths)).every((ms) => ms > 18_000)
  })
})

after(async () => {
  await server[Symbol.asyncDispose]()
  await source[Symbol.asyncDispose]()
})

async function hlsUrl(name: string): Promise<URL> {
  const { json } = await server.request<Camera>(`/v1/cameras/${ids.get(name)}/`)
  return new URL(json.streams.find(({ format }) => format === 'hls')!.url)
}

const askPlaylist = ({ pathname, search }: URL) => server.request(pathname + search, { authorization: null })

async function readPlaylist(url: URL) {
  const { status, text } = await askPlaylist(url)
  assert.equal(status, 200, text)
  return check(text)
}

function check(text: string) {
  const playlist = checkPlaylist(text, { isUneven: true })
  assert.deepEqual(playlist.faults, [], text)
  const seconds = playlist.entries.reduce((sum, entry) => sum + entry.seconds, 0)
  return { ...playlist, seconds, text }
}

/** Longer than the server keeps a playlist that nobody requests. */
const forgottenMs = 33_000

test('a first playlist lists three target durations unless an unwatched camera would make it wait too long', async () => {
  const readAll = () =>
    Promise.all(
      groups.map(async ({ name, seconds }) => ({ groupSeconds: seconds, ...(await readPlaylist(await hlsUrl(name))) })),
    )
  // By the length of a group: one that a busy machine sends late makes the target longer.
  for (const { groupSeconds, entries, seconds, text } of await readAll()) {
    assert.ok(entries.length >= (groupSeconds > 2 ? 2 : 3), text)
    if (groupSeconds <= 2) assert.ok(seconds >= 3 * groupSeconds * 0.95, text)
  }
  await sleep(forgottenMs)
  for (const { groupSeconds, entries, seconds, text } of await readAll()) {
    assert.ok(entries.length >= 3, text)
    assert.ok(seconds >= 3 * groupSeconds * 0.95, text)
  }
})

test('a player that can start early gets two segments from a newly connected camera', async () => {
  const url = await hlsUrl('reconnected')
  // Buffered segments are discarded with the connection.
  source.faults.dropConnections('reconnected')
  const early = new URL(url)
  early.searchParams.set('start', 'early')
  const [first, usual] = await eventually('frames again', 40_000, async () => {
    const answers = await Promise.all([early, url].map(askPlaylist))
    return answers.every(({ status }) => status === 200) && answers.map(({ text }) => check(text))
  })
  assert.ok(first && usual)
  assert.ok(first.entries.length >= 2, first.text)
  assert.ok(usual.entries.length >= first.entries.length, usual.text)
})

test('hls.js with default settings plays an unwatched camera without stalling', async () => {
  const url = await hlsUrl('watched')
  sentMs.length = 0
  await using viewer = await openViewer({ recorded: url.href })
  const read = () =>
    viewer.page.evaluate<{ seconds: number; reasons: string[]; lateMs: number }>(
      "({ seconds: document.querySelector('video').currentTime, reasons, lateMs })",
    )
  await eventually('a frame', 30_000, () => viewer.readClock('video'))
  const { seconds: from } = await read()
  const { reasons, lateMs } = await eventually('ten seconds later', 40_000, async () => {
    const now = await read()
    return now.seconds > from + 10 && now
  })
  // Where it looks for holes before it has moved to its start, which happens on a busy machine.
  const isStart = (reason: string) => /^bufferSeekOverHole: .* seeking from 0 to /.test(reason)
  const pauseMs = Math.max(...sentMs.slice(1).map((ms, i) => ms - sentMs[i]!))
  // The page has the video and does not get to showing it, or did not get to loading it, or the camera did not get to
  // sending it: the player is little more than a second behind.
  const isStarved = (reason: string) =>
    reason.startsWith('bufferStalledError') &&
    (lateMs > 1000 || pauseMs > 700 || Number(/"len":([\d.]+)/.exec(reason)?.[1]) > 0.5)
  assert.deepEqual(
    reasons.filter((reason) => !isStart(reason) && !isStarved(reason)),
    [],
    `the page was late by ${Math.round(lateMs)} ms, and the camera sent nothing for ${Math.round(pauseMs)} ms`,
  )
})

// Plays recorded streams with a burned-in clock in hls.js and compares the clock with the reported time.

import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClockClip } from '../playback/clock-footage.ts'
import { eventually, type ServerUnderTest } from '../server-under-test.ts'
import { checkErrors, openViewer } from './browser.ts'

export type ClockScene = {
  readonly server: ServerUnderTest
  readonly cameraId: number
  readonly clips: readonly ClockClip[]
}

type Stream = { readonly url: string; readonly stream_controls: { readonly speed: string } }

/** Frames are 200 ms apart. */
const tolerableMs = 450

/**
 * Plays from beginning to end at 4x speed. The displayed frames must belong to every clip, in order, but for those that were
 * over before a busy browser answered.
 */
export async function playAtFour(scene: ClockScene): Promise<{ looks: number; errors: string[] }> {
  const { clips } = scene
  const { startMs } = clips[0]!
  const { url } = await openStream(scene, { startMs, endMs: endOf(clips.at(-1)!) })
  await using viewer = await openViewer({ recorded: url })
  await eventually('a frame', 20_000, () => viewer.readClock('video'))
  await viewer.page.evaluate("document.querySelector('video').playbackRate = 4")
  const seen = new Set<number>()
  let lastMs = 0
  let looks = 0
  let lookedMs = performance.now()
  let longestPauseMs = 0
  const seconds = clips.reduce((sum, clip) => sum + clip.seconds, 0)
  await eventually('the last frame', (seconds / 4) * 1000 * 2 + 30_000, async () => {
    const read = await viewer.readClock('video')
    if (!read) return false
    const { unixMs } = read.code
    looks++
    longestPauseMs = Math.max(longestPauseMs, performance.now() - lookedMs)
    lookedMs = performance.now()
    assert.ok(unixMs >= lastMs, 'the clock does not go back')
    lastMs = unixMs
    const clip = clips.findIndex((clip) => unixMs >= clip.startMs && unixMs < endOf(clip))
    assert.ok(clip >= 0, 'a frame of a gap')
    seen.add(clip)
    return unixMs > endOf(clips.at(-1)!) - 1500
  })
  for (const [i, { seconds }] of clips.entries()) {
    const isOver = (seconds * 1000) / 4 < longestPauseMs
    assert.ok(seen.has(i) || isOver, `clip ${i} of ${seconds} s was not shown, looked every ${longestPauseMs} ms`)
  }
  return { looks, errors: await checkErrors(viewer.page) }
}

/** Seeks to random moments. */
export async function jumpAround(
  scene: ClockScene,
  jumps: number,
  random: () => number = Math.random,
): Promise<{ worstMs: number; errors: string[] }> {
  const { startMs } = scene.clips[0]!
  const last = scene.clips.at(-1)!
  const { url } = await openStream(scene, { startMs, endMs: endOf(last) })
  await using viewer = await openViewer({ recorded: url })
  await eventually('a frame', 20_000, () => viewer.readClock('video'))
  const seconds = await viewer.page.evaluate<number>("document.querySelector('video').duration")
  let worstMs = 0
  for (let jump = 0; jump < jumps; jump++) {
    const to = random() * (seconds - 2)
    await viewer.page.evaluate(`document.querySelector('video').currentTime = ${to}`)
    const findDifference = async () => {
      const isThere = await viewer.page.evaluate<boolean>(
        `(() => { const v = document.querySelector('video'); return !v.seeking && v.readyState >= 3 && v.currentTime >= ${to} })()`,
      )
      const read = isThere ? await viewer.readClock('video') : undefined
      return read && { ms: Math.abs(read.code.unixMs - read.playingMs!) }
    }
    let found = await eventually(`the frame at ${to} s`, 20_000, findDifference)
    // A busy browser may briefly show the old frame although it reports that the seek has ended.
    for (let looks = 0; found.ms >= tolerableMs && looks < 10; looks++) {
      await sleep(200)
      found = (await findDifference()) ?? found
    }
    worstMs = Math.max(worstMs, found.ms)
    assert.ok(found.ms < tolerableMs, `at ${to} s the clock in the frame differs by ${found.ms} ms`)
  }
  return { worstMs, errors: await checkErrors(viewer.page) }
}

/** Plays a stream without an end at normal speed, then reloads it at `speed`. */
export async function playKeyFrames(scene: ClockScene, speed: number): Promise<void> {
  const { startMs } = scene.clips[0]!
  const stream = await openStream(scene, { startMs })
  await using viewer = await openViewer({ recorded: stream.url })
  await eventually('a frame', 20_000, () => viewer.readClock('video'))
  await setSpeed(scene.server, stream, speed)
  await viewer.page.evaluate(`hls.loadSource(${JSON.stringify(stream.url)})`)
  const from = await eventually('a frame after the change', 20_000, async () => {
    const isPlaying = await viewer.page.evaluate<boolean>(
      "(() => { const v = document.querySelector('video'); return v.readyState >= 3 && !v.seeking })()",
    )
    return isPlaying && viewer.readClock('video')
  })
  const until = await eventually('two seconds later', 20_000, async () => {
    const now = await viewer.readClock('video')
    return now && now.seconds! > from.seconds! + 2 && now
  })
  const clockMs = until.code.unixMs - from.code.unixMs
  // Key frames may be seconds apart, and a gap may have been skipped.
  assert.ok(clockMs >= (until.seconds! - from.seconds!) * 1000 * speed * 0.6, `${clockMs} ms of the clock`)
  await checkErrors(viewer.page)
}

const endOf = ({ startMs, seconds }: ClockClip) => startMs + seconds * 1000

export async function openStream(
  { server, cameraId }: Pick<ClockScene, 'server' | 'cameraId'>,
  { startMs, endMs, speed }: { readonly startMs: number; readonly endMs?: number; readonly speed?: number },
): Promise<Stream> {
  const time = (ms: number) => new Date(ms).toISOString()
  const end = endMs === undefined ? '' : `&end=${time(endMs)}`
  const path = `/v1/cameras/${cameraId}/recording/stream/?start=${time(startMs)}${end}`
  const { json, status, text } = await server.request<Stream>(path)
  assert.equal(status, 200, text)
  if (speed !== undefined) await setSpeed(server, json, speed)
  return json
}

async function setSpeed(server: ServerUnderTest, { stream_controls }: Stream, speed: number): Promise<void> {
  const path = `${new URL(stream_controls.speed).pathname}?speed=${speed}`
  const { status, text } = await server.request(path, { method: 'POST', authorization: null })
  assert.equal(status, 204, text)
}

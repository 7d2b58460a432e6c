// Live views show moving frames, and the burned-in clock of recordings matches the playlist.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Camera } from '../../contract/camera.ts'
import type { Recording } from '../../contract/recording.ts'
import { type FakeCamera, openFakeCamera } from '../fake-camera/fake-camera.ts'
import { type CheckedPlaylist, checkMedia, checkNextPlaylist, checkPlaylist } from '../playback/check-playlist.ts'
import { eventually, openServerHere, type ServerUnderTest } from '../server-under-test.ts'
import { openViewer, type Viewer } from './browser.ts'

let source: FakeCamera
let server: ServerUnderTest
const ids: number[] = []

before(async () => {
  // On a busy machine, it leaves frames out. Sent later and later, they would be dated as those of a slow clock, and dated
  // anew when it was none.
  const video = { width: 640, height: 360, framesPerSecond: 15, gopFrames: 15, stampsTrueTime: true } as const
  source = await openFakeCamera({
    streams: [
      { ...video, name: 'yard', scene: 'yard' },
      { ...video, name: 'door', scene: 'door', hasAudio: true },
    ],
  })
  server = await openServerHere()
  for (const name of ['yard', 'door']) {
    ids.push(await server.addCamera(name, source.url(name), '--record', 'P1D'))
  }
  for (const id of ids)
    await eventually(`footage of camera ${id}`, 20_000, async () => (await recordingStartMs(id)) > 0)
})

after(async () => {
  await server[Symbol.asyncDispose]()
  await source[Symbol.asyncDispose]()
})

async function recordingStartMs(id: number): Promise<number> {
  const { json } = await server.request<Recording>(`/v1/cameras/${id}/recording/`)
  return json.recording_start === null ? 0 : Date.parse(json.recording_start)
}

async function streamUrl(id: number, format: string): Promise<string> {
  const { json } = await server.request<Camera>(`/v1/cameras/${id}/`)
  return json.streams.find((stream) => stream.format === format)!.url
}

async function recordedUrl(id: number, startMs: number, endMs?: number): Promise<string> {
  const time = (ms: number) => new Date(ms).toISOString()
  const end = endMs === undefined ? '' : `&end=${time(endMs)}`
  const { json, status, text } = await server.request<{ url: string }>(
    `/v1/cameras/${id}/recording/stream/?start=${time(startMs)}${end}`,
  )
  assert.equal(status, 200, text)
  return json.url
}

/** Not how old a frame is: on a busy machine a player stands still now and then, and stays behind. */
async function playsLive(viewer: Viewer, selector: string): Promise<void> {
  await eventually(`a frame in ${selector}`, 20_000, () => viewer.readClock(selector))
  const shownMs = Date.now()
  await eventually(`a frame of after the first one was shown in ${selector}`, 30_000, async () => {
    const read = await viewer.readClock(selector)
    assert.ok(read === undefined || read.code.unixMs <= Date.now(), 'no frame is of the future')
    return read !== undefined && read.code.unixMs > shownMs + 1000
  })
}

test('two MJPEG live views go on to frames that did not exist when they were opened', async () => {
  const live = await Promise.all(ids.map((id) => streamUrl(id, 'mjpeg')))
  await using viewer = await openViewer({ live })
  for (const index of [0, 1]) await playsLive(viewer, `#live${index} img`)
})

test('live HLS plays in hls.js', async () => {
  await using viewer = await openViewer({ recorded: await streamUrl(ids[1]!, 'hls') })
  await playsLive(viewer, 'video')
  assert.deepEqual(await fatalErrors(viewer.page), [])
})

test('the burned-in clock of a recorded stream matches the playlist, also after seeking', async () => {
  const startMs = (await recordingStartMs(ids[0]!)) + 2000
  await eventually('20 s of footage', 30_000, async () => Date.now() > startMs + 21_000)
  await using viewer = await openViewer({ recorded: await recordedUrl(ids[0]!, startMs, startMs + 20_000) })
  await eventually('a frame', 20_000, () => viewer.readClock('video'))
  await viewer.page.evaluate(`document.querySelector('video').pause()`)
  for (const seconds of [0.5, 14, 6.3, 18.2, 9.9]) {
    await viewer.page.evaluate(
      `(() => { const v = document.querySelector('video'); v.shownTime = undefined; v.currentTime = ${seconds} })()`,
    )
    let wrong = 'none'
    // After a seek, the browser may still tell of a frame from before it, 2 times of 150 on a busy machine.
    const { code, shownMs } = await eventually(
      () => `the frame at ${seconds} s, but ${wrong}`,
      20_000,
      async () => {
        const clock = await viewer.readClock('video')
        if (clock?.shownMs === undefined) return undefined
        const olderMs = clock.playingMs! - clock.shownMs
        wrong = `one that is ${olderMs} ms older`
        // Older where a camera on a busy machine left frames out; seeks are farther apart than that.
        return olderMs > -100 && olderMs < 5000 && clock
      },
    )
    const differenceMs = Math.abs(code.unixMs - shownMs!)
    assert.ok(differenceMs < 1000, `at ${seconds} s the clock in the frame differs by ${differenceMs} ms`)
    assert.ok(code.unixMs >= startMs - 1500 && code.unixMs <= startMs + 21_500)
  }
  assert.deepEqual(await fatalErrors(viewer.page), [])
})

test('a recorded stream without an end continues into live footage', async () => {
  const startMs = Date.now() - 8000
  await using viewer = await openViewer({ recorded: await recordedUrl(ids[1]!, startMs) })
  await playsLive(viewer, 'video')
  assert.deepEqual(await fatalErrors(viewer.page), [])
})

test('growing live and recorded playlists and their segments conform to the HLS specification', async () => {
  const recorded = await recordedUrl(ids[1]!, Date.now() - 12_000)
  const watch = async (url: string) => {
    const get = async (target: string, range?: string) => {
      const headers = range === undefined ? {} : { headers: { range: `bytes=${range}` } }
      const { status, bytes, text } = await server.request(new URL(target, url).href, {
        authorization: null,
        ...headers,
      })
      assert.ok(status === 200 || status === 206, text)
      return bytes
    }
    let before: CheckedPlaylist | undefined
    let next = 0
    await eventually('five entries', 40_000, async () => {
      const text = (await get(url)).toString()
      const playlist = checkPlaylist(text, { isUneven: true })
      assert.equal(playlist.faults.join('\n'), '', `${playlist.faults.join('\n')}\n${text}`)
      if (before) assert.deepEqual(checkNextPlaylist(before, playlist), [])
      before = playlist
      const first = playlist.entries[0]?.sequence ?? 0
      const newest = playlist.entries.at(-1)
      for (const entry of playlist.entries.filter(({ sequence }) => sequence >= next)) {
        const [, mapUri, mapBytes, mapOffset] = /URI="(.*?)"(?:,BYTERANGE="(\d+)@(\d+)")?/.exec(entry.map)!
        const rangeOf = (bytes: number, offset: number) => `${offset}-${offset + bytes - 1}`
        const init = await get(mapUri!, mapBytes === undefined ? undefined : rangeOf(+mapBytes, Number(mapOffset)))
        const bytes = await get(entry.uri, entry.range && rangeOf(entry.range.bytes, entry.range.offset))
        assert.deepEqual(checkMedia(entry, init, bytes, playlist.isIndependent), [])
        // On a busy machine, all of them would take longer than the list is.
        const parts = entry === newest ? await Promise.all(entry.parts.map(({ uri }) => get(uri))) : []
        if (parts.length > 0) assert.ok(Buffer.concat(parts).equals(bytes), 'the parts make up the segment')
        next = entry.sequence + 1
      }
      return next - first >= 5
    })
  }
  await Promise.all([watch(await streamUrl(ids[1]!, 'hls')), watch(recorded)])
})

async function fatalErrors(page: { evaluate<T>(script: string): Promise<T> }): Promise<string[]> {
  return (await page.evaluate<string[]>('errors')).filter((error) => error.endsWith('(fatal)'))
}

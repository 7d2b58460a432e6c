import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import {
  format,
  ids,
  init,
  isKind,
  keyFrame,
  marker,
  media,
  notAborted,
  reader,
  setUp,
  texts,
} from '../../test/support/live/live-scene.ts'
import { TestClock } from '../../test/support/test-clock.ts'
import { AppError } from '../base/error.ts'
import { type Logger, silentLogger } from '../base/log.ts'
import { parseBoxHeader } from '../media/mp4/box-scanner.ts'
import { parseMovieFragment } from '../media/mp4/fragment-head.ts'
import { writeInitSegment } from '../media/mp4/init-segment.ts'
import { writeFragmentHead } from '../media/mp4/media-fragment.ts'
import type { LiveChunk } from './live-chunk.ts'
import { ViewerQueue } from './viewer-queue.ts'

suite('mp4 and mpegts viewers', () => {
  test('viewers share one subscription; a late one starts at once from the last key frame', async () => {
    const { live, send, subscriptions, open } = setUp()
    const first = reader(live.camera(1).openViewer('mpegts', { signal: notAborted }))
    assert.deepEqual(await first.take(), [])
    send('mpegts', init(), media(1, true), media(2, false), media(3, true), media(4, false))
    const late = reader(live.camera(1).openViewer('mpegts', { signal: notAborted }))
    assert.deepEqual(ids(await late.take()), [3, 4])
    assert.deepEqual(ids(await first.take()), [1, 2, 3, 4])
    send('mpegts', media(5, false))
    assert.deepEqual(ids(await late.take()), [5])
    assert.deepEqual(ids(await first.take()), [5])
    assert.deepEqual(subscriptions, ['mpegts 0'])
    assert.equal(open[0]!.acked, 5)
  })

  test('the subscription outlives the last viewer by a few seconds only', async () => {
    const { live, send, open, clock, subscriptions } = setUp({ lingerMs: 5000 })
    const controller = new AbortController()
    const viewer = reader(live.camera(1).openViewer('mp4', { signal: controller.signal }))
    await viewer.take()
    assert.equal(live.stats().viewers.mp4, 1)
    controller.abort()
    assert.deepEqual(await viewer.take(), ['end'])
    assert.equal(live.stats().viewers.mp4, 0)
    await clock.advance(4000)
    assert.equal(open.length, 1)
    const again = new AbortController()
    const second = reader(live.camera(1).openViewer('mp4', { signal: again.signal }))
    await second.take()
    await clock.advance(60_000) // long enough for the first wait to give up
    assert.ok((await second.take())[0] instanceof AppError)
    await clock.advance(6000)
    assert.equal(open.length, 0)
    send('mp4', init())
    assert.deepEqual(subscriptions, ['mp4 0'])
  })

  test('a slow viewer drops to the next key frame and delays nobody', async () => {
    const warnings: unknown[] = []
    const log: Logger = { ...silentLogger, warn: (fields) => void warnings.push(fields) }
    const { live, send, clock } = setUp({ maxViewerBytes: 100, log })
    const slow = reader(live.camera(1).openViewer('mpegts', { signal: notAborted }))
    const fast = reader(live.camera(1).openViewer('mpegts', { signal: notAborted }))
    await Promise.all([slow.take(), fast.take()])
    send('mpegts', init(), media(0, true, 10))
    assert.deepEqual(ids(await slow.take(1)), [0])
    const seen: unknown[] = ids(await fast.take())
    for (let id = 1; id <= 30; id++) {
      send('mpegts', media(id, id % 10 === 0, 10))
      seen.push(...ids(await fast.take()))
      await clock.advance(40)
    }
    assert.deepEqual(seen, [...Array(31).keys()])
    // Twice more than 100 bytes waited; what is left begins at the newest key frame that fits.
    assert.deepEqual(ids(await slow.take()), [30])
    send('mpegts', media(31, false))
    assert.deepEqual(ids(await slow.take()), [31])
    assert.equal(warnings.length, 1, 'at most one a second')
    assert.ok(live.stats().droppedChunks > 20)
  })

  test('a page gets nothing older than a second, but its first group however long that takes', async () => {
    const clock = new TestClock(1_700_000_000_000)
    const dropped: number[] = []
    const onDrop = (chunks: number) => void dropped.push(chunks)
    const queue = new ViewerQueue({ maxBytes: 1000, maxWaitMs: 1000, clock, onDrop })
    queue.push(media(1, true), true)
    await clock.advance(3000)
    queue.push(media(2, false), false)
    assert.equal((await queue.next())?.data[0], 1)
    await clock.advance(900)
    queue.push(media(3, false), false)
    assert.deepEqual(dropped, [])
    await clock.advance(200)
    for (const [id, isKey] of [[4, false], [5, false], [6, true], [7, false]] as const) queue.push(media(id, isKey), false) // biome-ignore format: one line
    assert.deepEqual(dropped, [3])
    assert.deepEqual([(await queue.next())?.data[0], (await queue.next())?.data[0]], [6, 7])
  })

  test('chunks lost before a gap do not reach the viewer until a key frame', async () => {
    const { live, send } = setUp()
    const viewer = reader(live.camera(1).openViewer('mpegts', { signal: notAborted }))
    await viewer.take()
    send('mpegts', init(), media(1, false), media(2, true), marker('gap'), media(3, false), media(4, true))
    assert.deepEqual(ids(await viewer.take()), [2, 4])
  })

  test('the stream ends with the run, after everything that came before', async () => {
    const { live, send } = setUp()
    const viewer = reader(live.camera(1).openViewer('mpegts', { signal: notAborted }))
    await viewer.take()
    send('mpegts', init(), media(1, true), marker('end'), init(), media(2, true))
    assert.deepEqual(ids(await viewer.take()), [1, 'end'])
  })

  test('a camera that sends nothing is unavailable after ten seconds', async () => {
    const { live, clock } = setUp()
    const viewer = reader(live.camera(1).openViewer('mp4', { signal: notAborted }))
    await viewer.take()
    await clock.advance(10_000)
    const [error] = await viewer.take()
    assert.ok(isKind('unavailable')(error))
  })

  test('mp4 begins with the head of the file and at time 0, whenever the run began', async () => {
    const { live, send, clock } = setUp()
    const fragment = (time: number, isKey: boolean): LiveChunk => {
      const samples = [{ data: Uint8Array.of(7), duration: 3600, compositionOffset: 0, isKey }]
      const head = writeFragmentHead(1, [{ trackId: 1, baseDecodeTime: time, samples }])
      return { ...media(1, isKey), wallMs: clock.nowMs(), data: new Uint8Array([...head, 7]) }
    }
    const viewer = reader(live.camera(1).openViewer('mp4', { signal: notAborted }))
    await viewer.take()
    const head = writeInitSegment(format)
    const late = 90_000 * 86_400 * 100
    const first = fragment(late, true)
    const before = new Uint8Array(first.data)
    send('mp4', init(head), first, fragment(late + 3600, false))
    const [one, two] = (await viewer.take()) as [Uint8Array, Uint8Array]
    assert.deepEqual(one.subarray(0, head.length), head)
    const timeOf = (bytes: Uint8Array) =>
      parseMovieFragment(bytes.subarray(0, parseBoxHeader(bytes)!.bytes)).tracks[0]!.baseDecodeTime
    assert.deepEqual([timeOf(one.subarray(head.length)), timeOf(two)], [0, 3600])
    assert.deepEqual(first.data, before, 'the shared chunk is untouched')
  })

  test('a viewer of a camera with rare key frames gets its whole group at once, what is old of it in no time', async () => {
    const { live, newest, send, clock } = setUp({ maxViewerBytes: 1000 })
    const nowMs = clock.nowMs()
    const fragment = (trackId: 1 | 2, frame: number, rate: number): LiveChunk => {
      const samples = [{ data: new Uint8Array(50), duration: rate / 25, compositionOffset: 0, isKey: true }]
      const head = writeFragmentHead(1, [{ trackId, baseDecodeTime: (frame * rate) / 25, samples }])
      const wallMs = nowMs - (1000 - frame) * 40
      return {
        ...media(1, trackId === 1 && frame === 0),
        wallMs,
        isBacklog: frame < 1000,
        data: new Uint8Array([...head, ...samples[0]!.data]),
      }
    }
    const audio = { codec: 'aac', sampleRate: 8000, channels: 1, config: new Uint8Array(), codecString: '' } as const
    const frames = Array.from({ length: 1000 }, (_, i) => [fragment(1, i, 90_000), fragment(2, i, 8000)]).flat()
    newest.mp4 = [{ ...init(Uint8Array.of(1)), format: { ...format, audio } }, ...frames]
    const viewer = reader(live.camera(1).openViewer('mp4', { signal: notAborted }))
    const seen = (await viewer.take(3000)) as Uint8Array[]
    seen[0] = seen[0]!.subarray(1)
    send('mp4', fragment(1, 1000, 90_000), fragment(2, 1000, 8000))
    seen.push(...((await viewer.take()) as Uint8Array[]))
    const times: { [trackId: number]: number[] } = { 1: [], 2: [] }
    for (const bytes of seen) {
      const [track] = parseMovieFragment(bytes.subarray(0, parseBoxHeader(bytes)!.bytes)).tracks
      times[track!.trackId]!.push(track!.baseDecodeTime)
    }
    const steps = times[1]!.slice(1).map((time, i) => time - times[1]![i]!)
    const old = 962 // of 40 s, the last 1.5 are shown as they were
    // The accelerated part ends halfway from one frame to the next.
    assert.deepEqual(steps, [...new Array(old).fill(90), 45 + 1800, ...new Array(1000 - old - 1).fill(3600)])
    assert.equal(times[2]!.length, 1000 - old)
    assert.ok(Math.abs(times[2]![0]! / 8000 - times[1]![old + 1]! / 90_000) <= 0.04, 'audio with its frame')
    assert.deepEqual([...new Set(times[2]!.slice(1).map((time, i) => time - times[2]![i]!))], [320])
  })

  test('a viewer that has not taken its first group when the next begins goes on with that', async () => {
    const { live, newest, send } = setUp({ maxViewerBytes: 1000 })
    newest.mpegts = [init(), ...[1, 2, 3, 4].map((id) => ({ ...media(id, id === 1, 900), isBacklog: true }))]
    const viewer = reader(live.camera(1).openViewer('mpegts', { signal: notAborted }))
    assert.deepEqual(ids(await viewer.take(2)), [1, 2])
    send('mpegts', media(5, false, 10), media(6, true, 10), media(7, false, 10))
    assert.deepEqual(ids(await viewer.take()), [6, 7])
  })

  test('removing the camera ends its viewers', async () => {
    const { live, send, open } = setUp()
    const viewer = reader(live.camera(1).openViewer('mpegts', { signal: notAborted }))
    const mjpeg = reader(live.camera(1).openMjpeg({ signal: notAborted }))
    await viewer.take()
    await mjpeg.take()
    send('mpegts', init(), media(1, true))
    send('keyframes', init(), keyFrame(1))
    assert.deepEqual(ids(await viewer.take()), [1])
    assert.deepEqual(texts(await mjpeg.take()), ['1 full'])
    live.closeCamera(1)
    assert.deepEqual(await viewer.take(), ['end'])
    assert.deepEqual(await mjpeg.take(), ['end'])
    assert.equal(open.length, 0)
  })
})

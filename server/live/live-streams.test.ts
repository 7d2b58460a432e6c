import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { AppError } from '../base/error.ts'
import { type Logger, silentLogger } from '../base/log.ts'
import type { StreamFormat } from '../media/frame.ts'
import { parseBoxHeader } from '../media/mp4/box-scanner.ts'
import { parseMovieFragment } from '../media/mp4/fragment-head.ts'
import { writeInitSegment } from '../media/mp4/init-segment.ts'
import { writeFragmentHead } from '../media/mp4/media-fragment.ts'
import type { PictureLimits } from '../media/picture-size.ts'
import type { LiveFormat, LivePiece } from './live-piece.ts'
import { LiveStreams, type LiveStreamsOptions } from './live-streams.ts'
import { settle, TestClock } from './test-clock.ts'

const format: StreamFormat = {
  video: {
    codec: 'h264',
    width: 1920,
    height: 1080,
    config: Uint8Array.of(1, 0x4d, 0x40, 0x1f, 0xff, 0xe1, 0, 4, 0x67, 0x4d, 0x40, 0x1f, 1, 0, 2, 0x68, 0xee),
    codecString: 'avc1.4d401f',
  },
  audio: undefined,
}

const isKind = (kind: string) => (error: unknown) => error instanceof AppError && error.kind === kind

/** A camera's sources, driven by hand: what is sent goes to every open subscription of the format. */
function setUp(options: Partial<LiveStreamsOptions> = {}) {
  const clock = new TestClock()
  const open: { format: LiveFormat; onPiece: (piece: LivePiece) => void; minIntervalMs: number; acked: number }[] = []
  const newest: Partial<Record<LiveFormat, LivePiece[]>> = {}
  const subscriptions: string[] = []
  const decodes: PictureLimits[][] = []
  let decodeError: AppError | undefined
  const live = new LiveStreams({
    clock,
    log: silentLogger,
    subscriber: {
      subscribe(_cameraId, liveFormat, onPiece, { minIntervalMs = 0 } = {}) {
        const subscription = { format: liveFormat, onPiece, minIntervalMs, acked: 0 }
        open.push(subscription)
        subscriptions.push(`${liveFormat} ${minIntervalMs}`)
        for (const piece of newest[liveFormat] ?? []) onPiece(piece)
        return {
          ack: (bytes) => {
            subscription.acked += bytes
          },
          close: () => void open.splice(open.indexOf(subscription), 1),
        }
      },
    },
    decoder: {
      async decode({ sizes, data }) {
        decodes.push(sizes)
        if (decodeError) throw decodeError
        return sizes.map((size) => new TextEncoder().encode(`${data[0]} ${size.maxWidth ?? 'full'}`))
      },
    },
    ...options,
  })
  const send = (liveFormat: LiveFormat, ...pieces: LivePiece[]) => {
    for (const piece of pieces) for (const each of [...open]) if (each.format === liveFormat) each.onPiece(piece)
  }
  return {
    clock,
    live,
    open,
    newest,
    subscriptions,
    decodes,
    send,
    failDecodes: (error: AppError | undefined) => {
      decodeError = error
    },
  }
}

const marker = (kind: 'gap' | 'end'): LivePiece => ({
  kind,
  isKey: false,
  wallMs: 0,
  durationMs: 0,
  data: new Uint8Array(),
})
const init = (data: Uint8Array = new Uint8Array()): LivePiece => ({ ...marker('end'), kind: 'init', data, format })
const media = (id: number, isKey: boolean, bytes = 1): LivePiece => ({
  kind: 'media',
  isKey,
  wallMs: id * 1000,
  durationMs: 0,
  data: new Uint8Array(bytes).fill(id),
})
const keyFrame = (id: number): LivePiece => ({ ...media(id, true), format })

/** Reads a stream by hand: every `take` gives what has arrived, without letting time pass. */
function reader(stream: AsyncGenerator<Uint8Array, void, void>) {
  let pending: Promise<IteratorResult<Uint8Array, void>> | undefined
  return {
    async take(max = 1000): Promise<(Uint8Array | 'end' | AppError)[]> {
      const seen: (Uint8Array | 'end' | AppError)[] = []
      while (seen.length < max) {
        pending ??= stream.next()
        await settle()
        const result = await Promise.race([pending.catch((error: AppError) => error), settle()])
        if (result === undefined) return seen
        pending = undefined
        if (result instanceof AppError) return [...seen, result]
        if (result.done) return [...seen, 'end']
        seen.push(result.value)
      }
      return seen
    },
  }
}

const ids = (seen: (Uint8Array | 'end' | AppError)[]) =>
  seen.map((item) => (item instanceof Uint8Array ? item[0] : item))
const texts = (seen: (Uint8Array | 'end' | AppError)[]) =>
  seen.map((item) => (item instanceof Uint8Array ? new TextDecoder().decode(item) : item))
const notAborted = new AbortController().signal

suite('mp4 and mpegts viewers', () => {
  test('viewers share one subscription; a late one starts at once from the last key frame', async () => {
    const { live, send, subscriptions, open } = setUp()
    const first = reader(live.openViewer(1, 'mpegts', { signal: notAborted }))
    assert.deepEqual(await first.take(), [])
    send('mpegts', init(), media(1, true), media(2, false), media(3, true), media(4, false))
    const late = reader(live.openViewer(1, 'mpegts', { signal: notAborted }))
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
    const viewer = reader(live.openViewer(1, 'mp4', { signal: controller.signal }))
    await viewer.take()
    assert.equal(live.stats().viewers.mp4, 1)
    controller.abort()
    assert.deepEqual(await viewer.take(), ['end'])
    assert.equal(live.stats().viewers.mp4, 0)
    await clock.advance(4000)
    assert.equal(open.length, 1)
    const again = new AbortController()
    const second = reader(live.openViewer(1, 'mp4', { signal: again.signal }))
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
    const slow = reader(live.openViewer(1, 'mpegts', { signal: notAborted }))
    const fast = reader(live.openViewer(1, 'mpegts', { signal: notAborted }))
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
    assert.ok(live.stats().droppedPieces > 20)
  })

  test('pieces lost before a gap do not reach the viewer until a key frame', async () => {
    const { live, send } = setUp()
    const viewer = reader(live.openViewer(1, 'mpegts', { signal: notAborted }))
    await viewer.take()
    send('mpegts', init(), media(1, false), media(2, true), marker('gap'), media(3, false), media(4, true))
    assert.deepEqual(ids(await viewer.take()), [2, 4])
  })

  test('the stream ends with the run, after everything that came before', async () => {
    const { live, send } = setUp()
    const viewer = reader(live.openViewer(1, 'mpegts', { signal: notAborted }))
    await viewer.take()
    send('mpegts', init(), media(1, true), marker('end'), init(), media(2, true))
    assert.deepEqual(ids(await viewer.take()), [1, 'end'])
  })

  test('a camera that sends nothing is unavailable after ten seconds', async () => {
    const { live, clock } = setUp()
    const viewer = reader(live.openViewer(1, 'mp4', { signal: notAborted }))
    await viewer.take()
    await clock.advance(10_000)
    const [error] = await viewer.take()
    assert.ok(isKind('unavailable')(error))
  })

  test('mp4 begins with the head of the file and at time 0, whenever the run began', async () => {
    const { live, send } = setUp()
    const fragment = (time: number, isKey: boolean): LivePiece => {
      const samples = [{ data: Uint8Array.of(7), duration: 3600, compositionOffset: 0, isKey }]
      const head = writeFragmentHead(1, [{ trackId: 1, baseDecodeTime: time, samples }])
      return { ...media(1, isKey), data: new Uint8Array([...head, 7]) }
    }
    const viewer = reader(live.openViewer(1, 'mp4', { signal: notAborted }))
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
    assert.deepEqual(first.data, before, 'the shared piece is untouched')
  })

  test('removing the camera ends its viewers', async () => {
    const { live, send, open } = setUp()
    const viewer = reader(live.openViewer(1, 'mpegts', { signal: notAborted }))
    const mjpeg = reader(live.openMjpeg(1, { signal: notAborted }))
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

suite('mjpeg viewers', () => {
  /** A key frame a second for so long; gives the frames each viewer was sent. */
  async function watch(rates: (number | undefined)[], seconds: number, keysPerSecond = 1) {
    const { live, send, clock, decodes } = setUp()
    const viewers = rates.map((refreshRate) => reader(live.openMjpeg(1, { refreshRate, signal: notAborted })))
    const sent: { atMs: number; id: number }[][] = rates.map(() => [])
    for (const viewer of viewers) await viewer.take()
    send('keyframes', init())
    for (let i = 0; i < seconds * keysPerSecond; i++) {
      send('keyframes', { ...keyFrame(i), wallMs: (i * 1000) / keysPerSecond })
      for (let part = 0; part < 4; part++) {
        for (const [v, viewer] of viewers.entries()) {
          for (const text of texts(await viewer.take()))
            sent[v]!.push({ atMs: clock.monotonicMs(), id: Number.parseInt(text as string, 10) })
        }
        await clock.advance(250 / keysPerSecond)
      }
    }
    return { sent, decodes }
  }

  test('refresh rate is the most key frames per second; none means every key frame', async () => {
    const { sent, decodes } = await watch([undefined, 1, 0.1, 0.5], 40)
    const times = sent.map((frames) => frames.map((frame) => frame.atMs / 1000))
    assert.deepEqual(times, [
      [...Array(40).keys()],
      [...Array(40).keys()],
      [0, 10, 20, 30],
      [...Array(20).keys()].map((i) => i * 2),
    ])
    assert.equal(decodes.length, 40, 'one decode per key frame, whoever watches')
  })

  test('pictures are never closer than the rate allows, and always the newest', async () => {
    const { sent } = await watch([3], 10, 25)
    const frames = sent[0]!
    const pollMs = 10
    assert.ok(frames.length >= 25 && frames.length <= 30)
    for (const [i, frame] of frames.entries()) {
      if (i > 0) assert.ok(frame.atMs - frames[i - 1]!.atMs >= 333 - pollMs)
      assert.ok(frame.atMs - frame.id * 40 <= 40 + pollMs, 'not older than one frame')
    }
  })

  test('the first picture comes at once from the newest key frame', async () => {
    const { live, newest } = setUp()
    newest.keyframes = [init(), keyFrame(9)]
    const viewer = reader(live.openMjpeg(1, { refreshRate: 0.1, signal: notAborted }))
    assert.deepEqual(texts(await viewer.take()), ['9 full'])
  })

  test('one decode per key frame, one JPEG per distinct size', async () => {
    const { live, send, decodes } = setUp()
    const limits = [{}, { maxWidth: 640 }, { maxHeight: 360 }, { maxWidth: 5000 }, { maxWidth: 320 }]
    const viewers = limits.map((limit) => reader(live.openMjpeg(1, { ...limit, signal: notAborted })))
    for (const viewer of viewers) await viewer.take()
    send('keyframes', init(), keyFrame(1))
    const seen = await Promise.all(viewers.map(async (viewer) => texts(await viewer.take())))
    assert.deepEqual(seen.flat(), ['1 full', '1 640', '1 640', '1 full', '1 320'])
    assert.equal(decodes.length, 1)
    assert.equal(decodes[0]!.length, 3)
  })

  test('a viewer whose turn comes later finds its size already made', async () => {
    const { live, send, decodes, clock } = setUp()
    const fast = reader(live.openMjpeg(1, { signal: notAborted }))
    const small = reader(live.openMjpeg(1, { maxWidth: 640, refreshRate: 0.8, signal: notAborted }))
    await Promise.all([fast.take(), small.take()])
    send('keyframes', init(), keyFrame(1))
    await Promise.all([fast.take(), small.take()])
    await clock.advance(1000)
    send('keyframes', keyFrame(2))
    assert.deepEqual(texts(await fast.take()), ['2 full'])
    assert.deepEqual(await small.take(), [])
    await clock.advance(250)
    assert.deepEqual(texts(await small.take()), ['2 640'])
    assert.deepEqual(
      decodes.map((sizes) => sizes.length),
      [2, 2],
    )
  })

  test('a slow viewer is sent the newest picture, never a backlog', async () => {
    const { live, send } = setUp()
    const viewer = reader(live.openMjpeg(1, { signal: notAborted }))
    await viewer.take()
    send('keyframes', init(), keyFrame(1))
    assert.deepEqual(texts(await viewer.take(1)), ['1 full'])
    for (let id = 2; id < 50; id++) {
      send('keyframes', keyFrame(id))
      await settle()
    }
    assert.deepEqual(texts(await viewer.take()), ['49 full'])
  })

  test('the stream stays open while the camera is away and goes on when it returns', async () => {
    const { live, send, clock } = setUp()
    const viewer = reader(live.openMjpeg(1, { signal: notAborted }))
    await viewer.take()
    send('keyframes', init(), keyFrame(1))
    assert.deepEqual(texts(await viewer.take()), ['1 full'])
    send('keyframes', marker('end'))
    await clock.advance(3 * 3_600_000)
    assert.deepEqual(await viewer.take(), [])
    send('keyframes', init(), keyFrame(3))
    assert.deepEqual(texts(await viewer.take()), ['3 full'])
  })

  test('a camera that never sends is unavailable after ten seconds, and the viewer is gone', async () => {
    const { live, clock } = setUp()
    const viewer = reader(live.openMjpeg(1, { signal: notAborted }))
    await viewer.take()
    await clock.advance(10_000)
    assert.ok(isKind('unavailable')((await viewer.take())[0]))
    assert.equal(live.stats().viewers.mjpeg, 0)
  })

  test('a key frame that cannot be decoded is left out', async () => {
    const { live, send, failDecodes } = setUp()
    const viewer = reader(live.openMjpeg(1, { signal: notAborted }))
    await viewer.take()
    failDecodes(new AppError('corrupt', 'broken'))
    send('keyframes', init(), keyFrame(1))
    assert.deepEqual(await viewer.take(), [])
    failDecodes(undefined)
    send('keyframes', keyFrame(2))
    assert.deepEqual(texts(await viewer.take()), ['2 full'])
  })

  test('the source is asked for no more key frames than the fastest viewer needs', async () => {
    const { live, send, subscriptions, clock } = setUp()
    const slow = reader(live.openMjpeg(1, { refreshRate: 0.1, signal: notAborted }))
    await slow.take()
    send('keyframes', init(), keyFrame(1))
    assert.deepEqual(texts(await slow.take()), ['1 full'])
    const fast = reader(live.openMjpeg(1, { refreshRate: 2, signal: notAborted }))
    assert.deepEqual(texts(await fast.take()), ['1 full'])
    send('keyframes', init(), keyFrame(1)) // what a renewed subscription begins with
    await clock.advance(500)
    assert.deepEqual(texts(await fast.take()), [], 'the same picture is not sent twice')
    send('keyframes', keyFrame(2))
    assert.deepEqual(texts(await fast.take()), ['2 full'])
    assert.deepEqual(subscriptions, ['keyframes 1000', 'keyframes 125'])
  })
})

suite('snapshots', () => {
  test('concurrent asks share one subscription and one decode, later ones the picture', async () => {
    const { live, newest, decodes, subscriptions } = setUp()
    newest.keyframes = [init(), keyFrame(4)]
    const snapshots = await Promise.all([live.snapshot(1), live.snapshot(1), live.snapshot(1, { maxWidth: 3000 })])
    for (const { jpeg, wallMs } of [...snapshots, await live.snapshot(1)]) {
      assert.equal(new TextDecoder().decode(jpeg), '4 full')
      assert.equal(wallMs, 4000)
    }
    assert.equal(decodes.length, 1)
    assert.equal(subscriptions.length, 1)
  })

  test('an offline camera is unavailable after five seconds', async () => {
    const { live, clock, send } = setUp()
    const first = live.snapshot(1)
    await settle()
    send('keyframes', init(), keyFrame(1))
    await first
    send('keyframes', marker('end'))
    const second = assert.rejects(live.snapshot(1), isKind('unavailable'))
    await clock.advance(5000)
    await second
  })

  test('a picture from before the camera went away is never shown as live', async () => {
    const { live, clock, send, open } = setUp()
    const first = live.snapshot(1)
    await settle()
    send('keyframes', init(), keyFrame(1))
    await first
    await clock.advance(20_000)
    assert.equal(open.length, 0)
    const second = assert.rejects(live.snapshot(1), isKind('unavailable'))
    await clock.advance(5000)
    await second
  })

  test('a frame that cannot be decoded is unavailable', async () => {
    const { live, newest, failDecodes } = setUp()
    newest.keyframes = [init(), keyFrame(4)]
    failDecodes(new AppError('corrupt', 'broken'))
    await assert.rejects(live.snapshot(1), isKind('unavailable'))
  })
})

suite('hls', () => {
  const group = (id: number, durationMs = 2000): LivePiece => ({ ...media(id, true, 10), durationMs, endsGroup: true })
  const urlOf = (name: string) => `hls/${name}?t`

  test('the first playlist waits for two segments, and the window slides', async () => {
    const { live, send, clock } = setUp()
    const first = live.hlsPlaylist(1, urlOf)
    await settle()
    send('hls', init(Uint8Array.of(1)), group(1))
    await clock.advance(2000)
    send('hls', group(2))
    const text = await first
    assert.match(text, /#EXT-X-MAP:URI="hls\/init-1700000000\.mp4\?t"/)
    assert.match(
      text,
      /#EXT-X-PROGRAM-DATE-TIME:1970-01-01T00:00:01\.000Z\n#EXTINF:2\.00000,\nhls\/1700000000\.m4s\?t\n/,
    )
    assert.deepEqual(await live.hlsSegment(1, '1700000001.m4s'), group(2).data)
    assert.deepEqual(await live.hlsSegment(1, 'init-1700000000.mp4'), Uint8Array.of(1))
    for (let id = 3; id <= 14; id++) send('hls', group(id))
    const later = await live.hlsPlaylist(1, urlOf)
    assert.match(later, /#EXT-X-MEDIA-SEQUENCE:1700000008\n/)
    assert.equal(later.match(/#EXTINF/g)!.length, 6)
    await live.hlsSegment(1, '1700000002.m4s') // left the list, still there
    await assert.rejects(live.hlsSegment(1, '1700000001.m4s'), isKind('not_found'))
  })

  test('one segment is enough when it is long', async () => {
    const { live, send } = setUp()
    const first = live.hlsPlaylist(1, urlOf)
    await settle()
    send('hls', init(), group(1, 4000))
    assert.match(await first, /#EXT-X-TARGETDURATION:4\n/)
  })

  test('short groups share a segment, parts of a long one are one segment', async () => {
    const { live, send } = setUp()
    const first = live.hlsPlaylist(1, urlOf)
    await settle()
    send('hls', init(), group(1, 500), group(2, 500), group(3, 500), group(4, 500))
    send('hls', { ...group(5, 2000), endsGroup: false }, { ...media(6, false, 10), durationMs: 1000, endsGroup: true })
    assert.deepEqual((await first).match(/#EXTINF:[\d.]+/g), ['#EXTINF:1.50000', '#EXTINF:3.50000'])
  })

  test('a new run is a discontinuity with a section of its own, counted once it has left', async () => {
    const { live, send } = setUp()
    const first = live.hlsPlaylist(1, urlOf)
    await settle()
    send('hls', init(Uint8Array.of(1)), group(1), group(2), marker('end'), init(Uint8Array.of(2)), group(3))
    await first
    const text = await live.hlsPlaylist(1, urlOf)
    assert.match(
      text,
      /#EXT-X-DISCONTINUITY\n#EXT-X-MAP:URI="hls\/init-1700000002\.mp4\?t"\n#EXT-X-PROGRAM-DATE-TIME:[^\n]+\n#EXTINF:2\.00000,\nhls\/1700000002/,
    )
    assert.match(text, /DISCONTINUITY-SEQUENCE:0\n/)
    for (let id = 4; id <= 9; id++) send('hls', group(id))
    assert.match(await live.hlsPlaylist(1, urlOf), /DISCONTINUITY-SEQUENCE:1\n/)
  })

  test('closes after thirty seconds without a request, and numbers go on when it opens again', async () => {
    const { live, send, clock, open } = setUp()
    const first = live.hlsPlaylist(1, urlOf)
    await settle()
    send('hls', init(), group(1), group(2))
    await first
    await clock.advance(29_000)
    await live.hlsSegment(1, '1700000000.m4s')
    await clock.advance(29_000)
    assert.equal(open.length, 1)
    await clock.advance(7000)
    assert.equal(open.length, 0)
    await assert.rejects(live.hlsSegment(1, '1700000000.m4s'), isKind('not_found'))
    const again = live.hlsPlaylist(1, urlOf)
    await settle()
    send('hls', init(), group(1), group(2))
    assert.match(await again, /MEDIA-SEQUENCE:1700000065\n#EXT-X-DISCONTINUITY-SEQUENCE:1\n/)
  })

  test('a camera that sends nothing is unavailable after ten seconds', async () => {
    const { live, clock } = setUp()
    const playlist = assert.rejects(live.hlsPlaylist(1, urlOf), isKind('unavailable'))
    await clock.advance(10_000)
    await playlist
  })
})

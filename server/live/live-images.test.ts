import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { init, isKind, keyFrame, marker, notAborted, reader, setUp, texts } from '../../test/support/live/live-scene.ts'
import { settle } from '../../test/support/test-clock.ts'
import { systemClock } from '../base/clock.ts'
import { AppError } from '../base/error.ts'

suite('mjpeg viewers', () => {
  /** A key frame a second for so long; gives the frames each viewer was sent. */
  async function watch(rates: (number | undefined)[], seconds: number, keysPerSecond = 1) {
    const { live, send, clock, decodes } = setUp()
    const viewers = rates.map((refreshRate) => reader(live.camera(1).openMjpeg({ refreshRate, signal: notAborted })))
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

  test('a rate whose interval is endless yields one image and stops on request', async () => {
    const { live, send, newest } = setUp({ clock: systemClock })
    newest.keyframes = [init(), keyFrame(1)]
    for (const refreshRate of [1e-7, 5e-324]) {
      const leave = new AbortController()
      const viewer = live.camera(1).openMjpeg({ refreshRate, signal: leave.signal })
      assert.equal((await viewer.next()).done, false)
      const second = viewer.next()
      send('keyframes', keyFrame(2))
      assert.equal(await Promise.race([second, delay(30, 'still waiting')]), 'still waiting')
      leave.abort()
      assert.equal((await second).done, true)
    }
  })

  test('images never come faster than the rate allows, and are always the newest', async () => {
    const { sent } = await watch([3], 10, 25)
    const frames = sent[0]!
    const pollMs = 10
    assert.ok(frames.length >= 25 && frames.length <= 30)
    for (const [i, frame] of frames.entries()) {
      if (i > 0) assert.ok(frame.atMs - frames[i - 1]!.atMs >= 333 - pollMs)
      assert.ok(frame.atMs - frame.id * 40 <= 40 + pollMs, 'not older than one frame')
    }
  })

  test('the first image is made at once from the newest key frame', async () => {
    const { live, newest } = setUp()
    newest.keyframes = [init(), keyFrame(9)]
    const viewer = reader(live.camera(1).openMjpeg({ refreshRate: 0.1, signal: notAborted }))
    assert.deepEqual(texts(await viewer.take()), ['9 full'])
  })

  test('one decode per key frame, one JPEG per distinct size', async () => {
    const { live, send, decodes } = setUp()
    const limits = [{}, { maxWidth: 640 }, { maxHeight: 360 }, { maxWidth: 5000 }, { maxWidth: 320 }]
    const viewers = limits.map((limit) => reader(live.camera(1).openMjpeg({ ...limit, signal: notAborted })))
    for (const viewer of viewers) await viewer.take()
    send('keyframes', init(), keyFrame(1))
    const seen = await Promise.all(viewers.map(async (viewer) => texts(await viewer.take())))
    assert.deepEqual(seen.flat(), ['1 full', '1 640', '1 640', '1 full', '1 320'])
    assert.equal(decodes.length, 1)
    assert.equal(decodes[0]!.length, 3)
  })

  test('a viewer whose turn comes later finds its size already made', async () => {
    const { live, send, decodes, clock } = setUp()
    const fast = reader(live.camera(1).openMjpeg({ signal: notAborted }))
    const small = reader(live.camera(1).openMjpeg({ maxWidth: 640, refreshRate: 0.8, signal: notAborted }))
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

  test('a slow viewer is sent the newest image, never a backlog', async () => {
    const { live, send } = setUp()
    const viewer = reader(live.camera(1).openMjpeg({ signal: notAborted }))
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
    const viewer = reader(live.camera(1).openMjpeg({ signal: notAborted }))
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
    const viewer = reader(live.camera(1).openMjpeg({ signal: notAborted }))
    await viewer.take()
    await clock.advance(10_000)
    assert.ok(isKind('unavailable')((await viewer.take())[0]))
    assert.equal(live.stats().viewers.mjpeg, 0)
  })

  test('a key frame that cannot be decoded is left out', async () => {
    const { live, send, failDecodes } = setUp()
    const viewer = reader(live.camera(1).openMjpeg({ signal: notAborted }))
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
    const slow = reader(live.camera(1).openMjpeg({ refreshRate: 0.1, signal: notAborted }))
    await slow.take()
    send('keyframes', init(), keyFrame(1))
    assert.deepEqual(texts(await slow.take()), ['1 full'])
    const fast = reader(live.camera(1).openMjpeg({ refreshRate: 2, signal: notAborted }))
    assert.deepEqual(texts(await fast.take()), ['1 full'])
    send('keyframes', init(), keyFrame(1)) // what a renewed subscription begins with
    await clock.advance(500)
    assert.deepEqual(texts(await fast.take()), [], 'the same image is not sent twice')
    send('keyframes', keyFrame(2))
    assert.deepEqual(texts(await fast.take()), ['2 full'])
    assert.deepEqual(subscriptions, ['keyframes 1000', 'keyframes 125'])
  })
})

suite('snapshots', () => {
  test('concurrent requests share one subscription and one decode, and later ones the image', async () => {
    const { live, newest, decodes, subscriptions } = setUp()
    newest.keyframes = [init(), keyFrame(4)]
    const snapshots = await Promise.all([
      live.camera(1).snapshot(),
      live.camera(1).snapshot(),
      live.camera(1).snapshot({ maxWidth: 3000 }),
    ])
    for (const { jpeg, wallMs } of [...snapshots, await live.camera(1).snapshot()]) {
      assert.equal(new TextDecoder().decode(jpeg), '4 full')
      assert.equal(wallMs, 4000)
    }
    assert.equal(decodes.length, 1)
    assert.equal(subscriptions.length, 1)
  })

  test('an offline camera is unavailable after five seconds', async () => {
    const { live, clock, send } = setUp()
    const first = live.camera(1).snapshot()
    await settle()
    send('keyframes', init(), keyFrame(1))
    await first
    send('keyframes', marker('end'))
    const second = assert.rejects(live.camera(1).snapshot(), isKind('unavailable'))
    await clock.advance(5000)
    await second
  })

  test('the first viewer of a camera with long groups of pictures waits for its first key frame', async () => {
    const { live, clock, send } = setUp({ keyIntervalMs: () => undefined })
    const first = live.camera(1).snapshot()
    await clock.advance(12_000)
    send('keyframes', init(), keyFrame(1))
    assert.equal(new TextDecoder().decode((await first).jpeg), '1 full')
  })

  test('an image from before the camera went away is never shown as live', async () => {
    const { live, clock, send, open } = setUp()
    const first = live.camera(1).snapshot()
    await settle()
    send('keyframes', init(), keyFrame(1))
    await first
    await clock.advance(20_000)
    assert.equal(open.length, 0)
    const second = assert.rejects(live.camera(1).snapshot(), isKind('unavailable'))
    await clock.advance(5000)
    await second
  })

  test('a frame that cannot be decoded is unavailable', async () => {
    const { live, newest, failDecodes } = setUp()
    newest.keyframes = [init(), keyFrame(4)]
    failDecodes(new AppError('corrupt', 'broken'))
    await assert.rejects(live.camera(1).snapshot(), isKind('unavailable'))
  })
})

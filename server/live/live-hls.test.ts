import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { init, isKind, marker, media, setUp } from '../../test/support/live/live-scene.ts'
import { settle } from '../../test/support/test-clock.ts'
import type { AppError } from '../base/error.ts'
import type { LiveChunk } from './live-chunk.ts'

suite('hls', () => {
  const group = (id: number, durationMs = 2000): LiveChunk => ({ ...media(id, true, 10), durationMs, endsGroup: true })
  const urlOf = (name: string) => `hls/${name}?t`

  const count = (text: string) => text.match(/#EXTINF/g)!.length
  const early = { isEarly: true }

  test('the first playlist waits for three segments, and the window slides', async () => {
    const { live, send, clock } = setUp()
    const first = live.camera(1).hlsPlaylist(urlOf)
    await settle()
    send('hls', init(Uint8Array.of(1)), group(1))
    await clock.advance(2000)
    send('hls', group(2))
    await clock.advance(2000)
    send('hls', group(3))
    const text = await first
    assert.equal(count(text), 3)
    assert.match(text, /#EXT-X-TARGETDURATION:2\n/)
    assert.match(text, /#EXT-X-MAP:URI="hls\/init-1700000000\.mp4\?t"/)
    assert.match(
      text,
      /#EXT-X-PROGRAM-DATE-TIME:1970-01-01T00:00:01\.000Z\n#EXTINF:2\.00000,\nhls\/1700000000\.m4s\?t\n/,
    )
    assert.deepEqual(await live.camera(1).hlsSegment('1700000001.m4s'), group(2).data)
    assert.deepEqual(await live.camera(1).hlsSegment('init-1700000000.mp4'), Uint8Array.of(1))
    for (let id = 4; id <= 14; id++) send('hls', group(id))
    const later = await live.camera(1).hlsPlaylist(urlOf)
    assert.match(later, /#EXT-X-MEDIA-SEQUENCE:1700000008\n/)
    assert.equal(count(later), 6)
    await live.camera(1).hlsSegment('1700000002.m4s') // left the list, still there
    await assert.rejects(live.camera(1).hlsSegment('1700000001.m4s'), isKind('not_found'))
  })

  test('a camera of large segments takes no more than is left for the others, and gives all of it back', async () => {
    const { live, send, clock } = setUp({ maxTotalHlsBytes: 1200 })
    const large = (id: number): LiveChunk => ({ ...media(id, true, 100), durationMs: 2000, endsGroup: true })
    const first = live.camera(1).hlsPlaylist(urlOf)
    await settle()
    send('hls', init(), large(1), large(2), large(3))
    assert.equal(count(await first), 3)
    for (let id = 4; id <= 14; id++) send('hls', large(id))
    assert.equal(live.stats().retainedBytes, 600, 'half of it while it is alone')
    assert.equal(count(await live.camera(1).hlsPlaylist(urlOf)), 6)
    // A second camera in the same window of time: its chunks go to both, as the test camera sends to every
    // subscription.
    const second = live.camera(2).hlsPlaylist(urlOf)
    await settle()
    for (let id = 15; id <= 40; id++) send('hls', ...(id === 15 ? [init()] : []), large(id))
    assert.ok(count(await second) >= 3)
    assert.ok(live.stats().retainedBytes <= 800, `a third for each, not ${live.stats().retainedBytes}`)
    await clock.advance(40_000)
    assert.equal(live.stats().retainedBytes, 0)
  })

  test('a segment that is larger than its camera may have is dropped, and the next one is not', async () => {
    const { live, send } = setUp({ maxTotalHlsBytes: 1000 })
    const playlist = live.camera(1).hlsPlaylist(urlOf)
    await settle()
    send(
      'hls',
      init(),
      group(1),
      { ...media(2, true, 600), durationMs: 2000, endsGroup: true },
      group(3),
      group(4),
      group(5),
    )
    assert.match(await playlist, /#EXT-X-DISCONTINUITY\n/)
    assert.equal(live.stats().retainedBytes, 30)
  })

  test('who can begin with two segments is given them, and others wait for the third no longer than some seconds', async () => {
    const { live, send, clock } = setUp()
    const answered: string[] = []
    const ask = async (name: string, options = {}) => {
      const text = await live.camera(1).hlsPlaylist(urlOf, options)
      answered.push(`${name} ${count(text)}`)
    }
    const asked = [ask('early', early), ask('usual')]
    await settle()
    send('hls', init(), group(1), group(2))
    await settle()
    assert.deepEqual(answered, ['early 2'])
    await clock.advance(5000)
    assert.deepEqual(answered, ['early 2'])
    await clock.advance(1000)
    await Promise.all(asked)
    assert.deepEqual(answered, ['early 2', 'usual 2'])
    await ask('usual again')
    assert.deepEqual(answered.at(-1), 'usual again 2', 'once in the life of the list')
  })

  test('groups a little longer than whole seconds do not raise the target duration, three of them are enough', async () => {
    for (const [ms, target] of [
      [1920, 2],
      [2040, 2],
      [2240, 2],
      [2400, 3],
    ] as const) {
      const { live, send } = setUp()
      const first = live.camera(1).hlsPlaylist(urlOf)
      await settle()
      send('hls', init(), group(1, ms), group(2, ms), group(3, ms))
      if (target === 3) send('hls', group(4, ms))
      assert.match(await first, new RegExp(`TARGETDURATION:${target}\n`), `${ms} ms`)
    }
  })

  test('the list is never shorter than three target durations', async () => {
    const { live, send } = setUp()
    const first = live.camera(1).hlsPlaylist(urlOf)
    await settle()
    send('hls', init(), group(1, 5000), group(2, 5000), group(3, 5000))
    assert.match(await first, /TARGETDURATION:5\n/)
    for (let id = 4; id < 40; id++) {
      send('hls', group(id, 1500))
      const text = await live.camera(1).hlsPlaylist(urlOf)
      const seconds = [...text.matchAll(/#EXTINF:([\d.]+)/g)].reduce((sum, [, each]) => sum + Number(each), 0)
      assert.ok(seconds >= 15, text)
    }
  })

  test('whoever wants to wait less, waits less; what is listed is given at once', async () => {
    const { live, send, clock } = setUp()
    const none = assert.rejects(live.camera(1).hlsPlaylist(urlOf, { waitMs: 500 }), isKind('unavailable'))
    await clock.advance(500)
    await none
    send('hls', init(), group(1, 2000), group(2, 2000), group(3, 2000), marker('end'))
    assert.match(await live.camera(1).hlsPlaylist(urlOf, { waitMs: 500 }), /#EXTINF/)
  })

  test('one segment is enough to begin early when it is long', async () => {
    const { live, send } = setUp()
    const first = live.camera(1).hlsPlaylist(urlOf, early)
    await settle()
    send('hls', init(), group(1, 4000))
    assert.match(await first, /#EXT-X-TARGETDURATION:4\n/)
  })

  test('short groups share a segment, parts of a long one are one segment', async () => {
    const { live, send } = setUp()
    const first = live.camera(1).hlsPlaylist(urlOf, early)
    await settle()
    send('hls', init(), group(1, 500), group(2, 500), group(3, 500), group(4, 500))
    send('hls', { ...group(5, 2000), endsGroup: false }, { ...media(6, false, 10), durationMs: 1000, endsGroup: true })
    assert.deepEqual((await first).match(/#EXTINF:[\d.]+/g), ['#EXTINF:1.50000', '#EXTINF:3.50000'])
  })

  test('a long group is cut, and listed from its key frame on, which is where players begin', async () => {
    const { live, send } = setUp()
    const first = live.camera(1).hlsPlaylist(urlOf, early)
    await settle()
    let id = 0
    const part = (isKey: boolean): LiveChunk => ({ ...media(++id % 250, isKey, 10), durationMs: 2000 })
    const list = async () => {
      const text = await live.camera(1).hlsPlaylist(urlOf, early)
      const sequence = Number(/MEDIA-SEQUENCE:(\d+)/.exec(text)![1]) - 1_700_000_000
      const start = /#EXT-X-START:TIME-OFFSET=(-[\d.]+)\n/.exec(text)?.[1]
      return { sequence, count: text.match(/#EXTINF/g)!.length, start, isIndependent: text.includes('INDEPENDENT') }
    }
    send('hls', init(), part(true), part(false), part(false), part(false), part(false), part(false), part(false))
    assert.match(await first, /#EXTINF:6.00000,\nhls\/1700000000.m4s/)
    assert.deepEqual(await list(), { sequence: 0, count: 2, start: '-11.999', isIndependent: false })
    for (let i = 7; i < 31; i++) send('hls', part(false))
    assert.deepEqual(await list(), { sequence: 0, count: 10, start: '-59.999', isIndependent: false })
    // The next key frame: the list still begins with the one before, players with the new one as soon as it has enough
    // behind it.
    send('hls', part(true), part(false), part(false), part(false))
    assert.deepEqual(await list(), { sequence: 0, count: 12, start: '-5.999', isIndependent: false })
    for (let i = 4; i < 20; i++) send('hls', part(false))
    assert.deepEqual(await list(), { sequence: 11, count: 6, start: '-35.999', isIndependent: false })
    // Key frames each two seconds again: the cut group leaves the list once there are three target durations without
    // it.
    for (let i = 0; i < 10; i++) send('hls', { ...part(true), endsGroup: true })
    assert.deepEqual(await list(), { sequence: 19, count: 9, start: undefined, isIndependent: true })
  })

  test('after a loss in a long group nothing is listed before the next key frame', async () => {
    const { live, send } = setUp()
    const first = live.camera(1).hlsPlaylist(urlOf, early)
    await settle()
    const part = (isKey: boolean): LiveChunk => ({ ...media(1, isKey, 10), durationMs: 5000 })
    send(
      'hls',
      init(),
      part(true),
      part(false),
      part(false),
      marker('gap'),
      part(false),
      part(false),
      part(true),
      part(false),
    )
    send('hls', part(false))
    const text = await first
    assert.deepEqual(text.match(/#EXTINF:[\d.]+/g), ['#EXTINF:10.00000', '#EXTINF:5.00000', '#EXTINF:10.00000'])
    assert.match(await live.camera(1).hlsPlaylist(urlOf, early), /#EXT-X-DISCONTINUITY\n/)
  })

  test('a new run is a discontinuity with a section of its own, counted once it has left', async () => {
    const { live, send } = setUp()
    const first = live.camera(1).hlsPlaylist(urlOf)
    await settle()
    send('hls', init(Uint8Array.of(1)), group(1), group(2), marker('end'), init(Uint8Array.of(2)), group(3))
    await first
    const text = await live.camera(1).hlsPlaylist(urlOf)
    assert.match(
      text,
      /#EXT-X-DISCONTINUITY\n#EXT-X-MAP:URI="hls\/init-1700000002\.mp4\?t"\n#EXT-X-PROGRAM-DATE-TIME:[^\n]+\n#EXTINF:2\.00000,\nhls\/1700000002/,
    )
    assert.match(text, /DISCONTINUITY-SEQUENCE:0\n/)
    for (let id = 4; id <= 9; id++) send('hls', group(id))
    assert.match(await live.camera(1).hlsPlaylist(urlOf), /DISCONTINUITY-SEQUENCE:1\n/)
  })

  test('closes after thirty seconds without a request, and numbers go on when it opens again', async () => {
    const { live, send, clock, open } = setUp()
    const first = live.camera(1).hlsPlaylist(urlOf, early)
    await settle()
    send('hls', init(), group(1), group(2))
    await first
    await clock.advance(29_000)
    await live.camera(1).hlsSegment('1700000000.m4s')
    await clock.advance(29_000)
    assert.equal(open.length, 1)
    await clock.advance(7000)
    assert.equal(open.length, 0)
    await assert.rejects(live.camera(1).hlsSegment('1700000000.m4s'), isKind('not_found'))
    const again = live.camera(1).hlsPlaylist(urlOf, early)
    await settle()
    send('hls', init(), group(1), group(2))
    assert.match(await again, /MEDIA-SEQUENCE:1700000065\n#EXT-X-DISCONTINUITY-SEQUENCE:1\n/)
  })

  test('a camera that sends nothing is unavailable after ten seconds', async () => {
    const { live, clock } = setUp()
    const playlist = assert.rejects(live.camera(1).hlsPlaylist(urlOf), isKind('unavailable'))
    await clock.advance(10_000)
    await playlist
  })
})

suite('low-latency hls', () => {
  const targetMs = 378
  const urlOf = (name: string) => name
  const part = (id: number, isKey: boolean, endsGroup = false, durationMs = 360): LiveChunk => ({
    ...{ ...media(id % 250, isKey, 10), durationMs, endsGroup, partTargetMs: targetMs },
  })
  /** Groups of 1.8 s in five parts. */
  const groups = (first: number, count: number): LiveChunk[] =>
    Array.from({ length: count * 5 }, (_, i) => part(first + i, i % 5 === 0, i % 5 === 4))
  const first = 1_700_000_000

  async function begin(...chunks: LiveChunk[]) {
    const scene = setUp()
    const camera = scene.live.camera(1)
    const asked = camera.hlsPlaylist(urlOf)
    await settle()
    scene.send('hls', init(), ...groups(0, 3), ...chunks)
    await scene.clock.advance(6000)
    const text = await asked
    /** What has been answered until now. */
    const ask = (sequence: number, part?: number, options = {}) => {
      const answer: { text?: string; error?: AppError } = {}
      void camera.hlsPlaylist(urlOf, { isEarly: true, until: { sequence, part }, ...options }).then(
        (text) => Object.assign(answer, { text }),
        (error: AppError) => Object.assign(answer, { error }),
      )
      return answer
    }
    return { ...scene, camera, text, ask }
  }

  test('the parts of the newest segments are listed, with the name of the next one, and make up their segments', async () => {
    const { text, camera, send } = await begin(part(15, true), part(16, false))
    const line = (i: number, isKey: boolean) =>
      `#EXT-X-PART:DURATION=0.36000,URI="${first + Math.floor(i / 5)}.${i % 5}.m4s"${isKey ? ',INDEPENDENT=YES' : ''}\n`
    const segment = (n: number) =>
      `${[0, 1, 2, 3, 4].map((i) => line(n * 5 + i, i === 0)).join('')}#EXTINF:1.80000,\n${first + n}.m4s\n`
    assert.equal(
      text.replace(/#EXT-X-PROGRAM-DATE-TIME:.*\n/g, ''),
      '#EXTM3U\n#EXT-X-VERSION:9\n#EXT-X-TARGETDURATION:2\n' +
        '#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=1.134\n#EXT-X-PART-INF:PART-TARGET=0.378\n' +
        `#EXT-X-MEDIA-SEQUENCE:${first}\n#EXT-X-DISCONTINUITY-SEQUENCE:0\n#EXT-X-INDEPENDENT-SEGMENTS\n` +
        `#EXT-X-MAP:URI="init-${first}.mp4"\n${segment(0)}${segment(1)}${segment(2)}` +
        `${line(15, true)}${line(16, false)}#EXT-X-PRELOAD-HINT:TYPE=PART,URI="${first + 3}.2.m4s"\n`,
    )
    const parts = await Promise.all([0, 1, 2, 3, 4].map((i) => camera.hlsSegment(`${first + 1}.${i}.m4s`)))
    assert.deepEqual(Buffer.concat(await Promise.all(parts)), Buffer.from(await camera.hlsSegment(`${first + 1}.m4s`)))
    assert.deepEqual(await camera.hlsSegment(`${first + 1}.2.m4s`), parts[2])
    await assert.rejects(camera.hlsSegment(`${first + 3}.m4s`), isKind('not_found'), 'it is not complete')
    send('hls', ...groups(20, 8))
    const later = await camera.hlsPlaylist(urlOf)
    assert.doesNotMatch(later, new RegExp(`${first + 6}\\.0`), 'older parts are not listed')
    assert.match(later, new RegExp(`#EXTINF:1.80000,\\n${first + 6}\\.m4s`))
  })

  test('a request is held until the playlist has what it asks for', async () => {
    const { ask, send } = await begin(part(15, true))
    const old = ask(first + 1)
    const have = ask(first + 3, 0)
    const segment = ask(first + 4)
    const next = ask(first + 3, 1)
    const after = ask(first + 3, 5)
    const noSuchPart = ask(first + 2, 7)
    await settle()
    assert.ok(old.text && have.text && noSuchPart.text)
    assert.deepEqual([segment, next, after], [{}, {}, {}])
    send('hls', part(16, false))
    await settle()
    assert.match(
      next.text!,
      new RegExp(`${first + 3}\\.1\\.m4s".*\\n#EXT-X-PRELOAD-HINT:TYPE=PART,URI="${first + 3}\\.2`),
    )
    send('hls', part(17, false), part(18, false), part(19, false, true))
    await settle()
    assert.deepEqual(after, {}, 'the segment turned out to have five parts, so the sixth is the first of the next one')
    send('hls', part(20, true))
    await settle()
    assert.match(after.text!, new RegExp(`${first + 4}\\.0\\.m4s`))
    assert.match(segment.text!, new RegExp(`${first + 4}\\.0\\.m4s`), 'Safari asks for segments and wants their parts')
  })

  test('what is too far ahead is refused at once', async () => {
    const { ask } = await begin()
    const far = [ask(first + 5), ask(1e15), ask(first + 3, 8), ask(first + 3, 1e9), ask(first + 4, 1e9)]
    const near = [ask(first + 4), ask(first + 3, 7)]
    await settle()
    for (const { error } of far) assert.equal(error?.kind, 'invalid')
    assert.deepEqual(near, [{}, {}])
  })

  test('the next part is held, and not found if it does not come', async () => {
    const { camera, send } = await begin(part(15, true))
    const next = camera.hlsSegment(`${first + 3}.1.m4s`)
    await assert.rejects(camera.hlsSegment(`${first + 3}.2.m4s`), isKind('not_found'))
    send('hls', part(16, false))
    assert.deepEqual(await next, part(16, false).data)
    const never = assert.rejects(camera.hlsSegment(`${first + 3}.2.m4s`), isKind('not_found'))
    send('hls', marker('end'))
    await never
  })

  test('a camera that goes away or falls silent holds nobody, and continues with a discontinuity', async () => {
    const { ask, send, clock } = await begin(part(15, true))
    const asked = ask(first + 3, 1)
    await settle()
    send('hls', marker('end'))
    await settle()
    assert.match(asked.text!, new RegExp(`${first + 3}\\.0\\.m4s".*\\n#EXTINF:0.36`))
    assert.doesNotMatch(asked.text!, /ENDLIST/)
    // Who asks again is not answered at once, or it would ask again and again.
    const again = ask(first + 4)
    await clock.advance(5900)
    assert.deepEqual(again, {})
    await clock.advance(200)
    assert.equal(again.text, asked.text)
    const back = ask(first + 4)
    await settle()
    send('hls', init(Uint8Array.of(2)), part(20, true))
    await settle()
    assert.match(
      back.text!,
      new RegExp(`DISCONTINUITY\\n#EXT-X-MAP:URI="init-${first + 4}.mp4"\\n.*\\n.*${first + 4}\\.0`),
    )
  })

  test('an account has so many requests waiting, and others have theirs; who leaves waits no more', async () => {
    const { ask, send, live } = await begin(part(15, true))
    const leave = new AbortController()
    const held = Array.from({ length: 32 }, () => ask(first + 3, 1, { account: 7, signal: leave.signal }))
    await settle()
    const refused = ask(first + 3, 1, { account: 7 })
    const other = ask(first + 3, 1, { account: 8 })
    await settle()
    assert.equal(refused.error?.kind, 'unavailable')
    assert.deepEqual([other, ...held].filter(({ text, error }) => text || error), []) // biome-ignore format: one line
    leave.abort()
    await settle()
    assert.ok(
      held.every(({ text, error }) => !text && error?.kind === 'unavailable'),
      'who lost access gets nothing',
    )
    const now = ask(first + 3, 1, { account: 7 })
    await settle()
    assert.deepEqual(now, {})
    send('hls', part(16, false))
    await settle()
    assert.ok(now.text && other.text)
    const removed = ask(first + 3, 2)
    await settle()
    live.closeCamera(1)
    await settle()
    assert.equal(removed.error?.kind, 'unavailable')
  })

  test('the longest duration of a part stays what it was, whatever comes', async () => {
    const { camera, send } = await begin()
    send('hls', part(15, true), part(16, false, false, 1500), { ...part(17, false), partTargetMs: 500 })
    const text = await camera.hlsPlaylist(urlOf)
    assert.match(text, /PART-TARGET=0\.378\n/)
    const durations = [...text.matchAll(/PART:DURATION=([\d.]+)/g)].map(([, each]) => Number(each))
    assert.equal(Math.max(...durations), 0.378)
    assert.doesNotMatch(text, /TARGETDURATION:[^2]/)
  })

  test('a list that players cannot begin at its end has no parts, and nothing is held for it', async () => {
    const { live, send } = setUp()
    const camera = live.camera(1)
    const asked = camera.hlsPlaylist(urlOf, { isEarly: true })
    await settle()
    send('hls', init(), ...Array.from({ length: 20 }, (_, i) => part(i, i === 0)))
    assert.doesNotMatch(await asked, /PART|SERVER-CONTROL|VERSION:9/)
    assert.doesNotMatch(await camera.hlsPlaylist(urlOf, { isEarly: true, until: { sequence: 1e15 } }), /PART/)
  })
})

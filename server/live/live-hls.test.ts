import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { init, isKind, marker, media, setUp } from '../../test/support/live/live-scene.ts'
import { settle } from '../../test/support/test-clock.ts'
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
    assert.deepEqual(await list(), { sequence: 0, count: 2, start: '-12.000', isIndependent: false })
    for (let i = 7; i < 31; i++) send('hls', part(false))
    assert.deepEqual(await list(), { sequence: 0, count: 10, start: '-60.000', isIndependent: false })
    // The next key frame: the list still begins with the one before, players with the new one as soon as it has enough
    // behind it.
    send('hls', part(true), part(false), part(false), part(false))
    assert.deepEqual(await list(), { sequence: 0, count: 12, start: '-6.000', isIndependent: false })
    for (let i = 4; i < 20; i++) send('hls', part(false))
    assert.deepEqual(await list(), { sequence: 11, count: 6, start: '-36.000', isIndependent: false })
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

import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { LivePiece } from './live-piece.ts'
import { settle } from './test-clock.ts'
import { init, isKind, marker, media, setUp } from './test-live.ts'

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

  test('whoever wants to wait less, waits less; what is listed is given at once', async () => {
    const { live, send, clock } = setUp()
    const none = assert.rejects(live.hlsPlaylist(1, urlOf, { waitMs: 500 }), isKind('unavailable'))
    await clock.advance(500)
    await none
    send('hls', init(), group(1, 2000), group(2, 2000), group(3, 2000), marker('end'))
    assert.match(await live.hlsPlaylist(1, urlOf, { waitMs: 500 }), /#EXTINF/)
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

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseSections } from './playlist-sections.ts'

test('entries and heads are ranges of a file, or whole files', () => {
  const text = [
    '#EXTM3U',
    '#EXT-X-MAP:URI="init-silent-1.mp4"',
    '#EXT-X-PROGRAM-DATE-TIME:2026-05-01T00:00:00.000Z',
    '#EXTINF:2.000,',
    'silent-0.mp4',
    '#EXT-X-DISCONTINUITY',
    '#EXT-X-MAP:URI="2.mp4",BYTERANGE="100@0"',
    '#EXTINF:1.000,',
    '#EXT-X-BYTERANGE:50@100',
    '2.mp4',
    '#EXT-X-ENDLIST',
  ]
  const startMs = Date.UTC(2026, 4, 1)
  const url = (name: string) => `https://host/hls/${name}`
  assert.deepEqual(parseSections(text.join('\n'), url('playlist.m3u8')), {
    isEnded: true,
    sections: [
      {
        map: { url: url('init-silent-1.mp4'), range: undefined },
        entries: [{ url: url('silent-0.mp4'), range: undefined, startMs, durationMs: 2000 }],
      },
      {
        map: { url: url('2.mp4'), range: [0, 99] },
        entries: [{ url: url('2.mp4'), range: [100, 149], startMs: startMs + 2000, durationMs: 1000 }],
      },
    ],
  })
  assert.throws(() => parseSections(text.join('\n').replace('50@100', '50'), url('playlist.m3u8')))
})

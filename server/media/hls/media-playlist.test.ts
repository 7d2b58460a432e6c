import assert from 'node:assert/strict'
import { test } from 'node:test'
import { playlistEnd, writePlaylistEntry, writePlaylistHead } from './media-playlist.ts'

test('a playlist lists its initialization sections, byte ranges and discontinuities', () => {
  const range = { bytes: 900, offset: 0 }
  const text = [
    writePlaylistHead({ targetDurationSeconds: 8, type: 'VOD', mediaSequence: 0 }),
    writePlaylistEntry({
      uri: '1.mp4',
      durationSeconds: 4,
      byteRange: { bytes: 1000, offset: 900 },
      map: { uri: '1.mp4', byteRange: range },
      programDateMs: Date.UTC(2026, 0, 2, 3, 4, 5, 678),
    }),
    writePlaylistEntry({ uri: '2.mp4', durationSeconds: 1 / 3, isDiscontinuity: true, map: { uri: '2.mp4' } }),
    playlistEnd,
  ].join('')
  assert.equal(
    text,
    `#EXTM3U
#EXT-X-VERSION:7
#EXT-X-TARGETDURATION:8
#EXT-X-PLAYLIST-TYPE:VOD
#EXT-X-MEDIA-SEQUENCE:0
#EXT-X-MAP:URI="1.mp4",BYTERANGE="900@0"
#EXT-X-PROGRAM-DATE-TIME:2026-01-02T03:04:05.678Z
#EXTINF:4.00000,
#EXT-X-BYTERANGE:1000@900
1.mp4
#EXT-X-DISCONTINUITY
#EXT-X-MAP:URI="2.mp4"
#EXTINF:0.33333,
2.mp4
#EXT-X-ENDLIST
`,
  )
})

test('the head of a sliding playlist counts the entries and discontinuities that were removed', () => {
  const head = { targetDurationSeconds: 2, mediaSequence: 17, discontinuitySequence: 3, start: 'first_entry' } as const
  assert.equal(
    writePlaylistHead(head),
    `#EXTM3U
#EXT-X-VERSION:7
#EXT-X-TARGETDURATION:2
#EXT-X-MEDIA-SEQUENCE:17
#EXT-X-DISCONTINUITY-SEQUENCE:3
#EXT-X-START:TIME-OFFSET=0,PRECISE=YES
`,
  )
})

test('the head of a live playlist states whether segments are independent and where to start', () => {
  const head = { targetDurationSeconds: 2, mediaSequence: 17, discontinuitySequence: 0 }
  const base = `#EXTM3U
#EXT-X-VERSION:7
#EXT-X-TARGETDURATION:2
#EXT-X-MEDIA-SEQUENCE:17
#EXT-X-DISCONTINUITY-SEQUENCE:0
`
  assert.equal(writePlaylistHead({ ...head, isIndependent: true }), `${base}#EXT-X-INDEPENDENT-SEGMENTS\n`)
  assert.equal(
    writePlaylistHead({ ...head, start: { secondsBeforeEnd: 6.5 } }),
    `${base}#EXT-X-START:TIME-OFFSET=-6.500\n`,
  )
})

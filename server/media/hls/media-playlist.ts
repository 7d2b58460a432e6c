// Writes HLS media playlists: values in, text out. In pieces, so that a long playlist that grows is not written anew each time.
// RFC 8216 4.3; version 7 for initialization sections of fragmented MP4 and byte ranges.

export type ByteRange = { readonly bytes: number; readonly offset: number }

export type PlaylistEntry = {
  readonly uri: string
  readonly durationSeconds: number
  readonly byteRange?: ByteRange
  /** Given where it begins to hold. */
  readonly map?: { readonly uri: string; readonly byteRange?: ByteRange }
  /** Wall clock of the first frame, Unix milliseconds. */
  readonly programDateMs?: number
  /** Timestamps, codecs or tracks do not continue what is before. */
  readonly isDiscontinuity?: boolean
}

export type PlaylistHead = {
  /** Whole seconds; no entry is longer when rounded. Never changes while the playlist grows. */
  readonly targetDurationSeconds: number
  /** EVENT only grows at its end, VOD does not change; undefined: entries may leave at the front. */
  readonly type?: 'EVENT' | 'VOD'
  /** Number of the first entry. */
  readonly mediaSequence: number
  /** Discontinuities that have left the playlist with their entries. */
  readonly discontinuitySequence: number
  /** A player shall begin at the first entry even while the playlist grows. */
  readonly startsAtFirstEntry?: boolean
}

export function writePlaylistHead(head: PlaylistHead): string {
  const lines = ['#EXTM3U', '#EXT-X-VERSION:7', `#EXT-X-TARGETDURATION:${head.targetDurationSeconds}`]
  if (head.type) lines.push(`#EXT-X-PLAYLIST-TYPE:${head.type}`)
  lines.push(`#EXT-X-MEDIA-SEQUENCE:${head.mediaSequence}`)
  if (head.discontinuitySequence > 0) lines.push(`#EXT-X-DISCONTINUITY-SEQUENCE:${head.discontinuitySequence}`)
  if (head.startsAtFirstEntry) lines.push('#EXT-X-START:TIME-OFFSET=0,PRECISE=YES')
  return `${lines.join('\n')}\n`
}

export function writePlaylistEntry(entry: PlaylistEntry): string {
  const { uri, durationSeconds, byteRange, map, programDateMs, isDiscontinuity } = entry
  let text = isDiscontinuity ? '#EXT-X-DISCONTINUITY\n' : ''
  if (map) {
    const range = map.byteRange ? `,BYTERANGE="${rangeText(map.byteRange)}"` : ''
    text += `#EXT-X-MAP:URI="${map.uri}"${range}\n`
  }
  if (programDateMs !== undefined) text += `#EXT-X-PROGRAM-DATE-TIME:${new Date(programDateMs).toISOString()}\n`
  text += `#EXTINF:${durationSeconds.toFixed(5)},\n`
  if (byteRange) text += `#EXT-X-BYTERANGE:${rangeText(byteRange)}\n`
  return `${text}${uri}\n`
}

/** After the last entry of a playlist that is complete. */
export const playlistEnd = '#EXT-X-ENDLIST\n'

function rangeText({ bytes, offset }: ByteRange): string {
  return `${bytes}@${offset}`
}

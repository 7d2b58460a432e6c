// Writes HLS media playlists, live and recorded (RFC 8216 4.3). Version 7 is required for byte ranges and
// initialization sections of fragmented MP4. The head and each entry are separate strings, so that the caller can cache
// a long playlist and append to it.

export type ByteRange = { readonly bytes: number; readonly offset: number }

export type PlaylistEntry = {
  readonly uri: string
  readonly durationSeconds: number
  readonly byteRange?: ByteRange
  /** The initialization section, given at the first entry that it applies to. */
  readonly map?: { readonly uri: string; readonly byteRange?: ByteRange }
  /** Wall clock of the first frame, Unix milliseconds. */
  readonly programDateMs?: number
  /** The timestamps, codecs or tracks do not continue those of the previous entry. */
  readonly isDiscontinuity?: boolean
}

export type PlaylistHead = {
  /** Whole seconds. No entry is longer after rounding. Must not change while the playlist grows. */
  readonly targetDurationSeconds: number
  /**
   * An EVENT playlist grows only at its end; a VOD playlist never changes. Undefined: entries may be removed from the
   * front.
   */
  readonly type?: 'EVENT' | 'VOD'
  /** Number of the first entry. */
  readonly mediaSequence: number
  /** Number of discontinuities that were removed together with their entries. Undefined: the tag is omitted. */
  readonly discontinuitySequence?: number | undefined
  /** A player may start at any entry. */
  readonly isIndependent?: boolean
  /**
   * Where a player should start: at the first entry, or this many seconds before the end. Undefined: the player
   * chooses.
   */
  readonly start?: 'first_entry' | { readonly secondsBeforeEnd: number } | undefined
}

export function writePlaylistHead(head: PlaylistHead): string {
  const { targetDurationSeconds, type, mediaSequence, discontinuitySequence, isIndependent, start } = head
  let text = `#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:${targetDurationSeconds}\n`
  if (type) text += `#EXT-X-PLAYLIST-TYPE:${type}\n`
  text += `#EXT-X-MEDIA-SEQUENCE:${mediaSequence}\n`
  if (discontinuitySequence !== undefined) text += `#EXT-X-DISCONTINUITY-SEQUENCE:${discontinuitySequence}\n`
  if (isIndependent) text += '#EXT-X-INDEPENDENT-SEGMENTS\n'
  if (start === 'first_entry') text += '#EXT-X-START:TIME-OFFSET=0,PRECISE=YES\n'
  else if (start) text += `#EXT-X-START:TIME-OFFSET=${(-start.secondsBeforeEnd).toFixed(3)}\n`
  return text
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

/** Follows the last entry of a complete playlist. */
export const playlistEnd = '#EXT-X-ENDLIST\n'

function rangeText({ bytes, offset }: ByteRange): string {
  return `${bytes}@${offset}`
}

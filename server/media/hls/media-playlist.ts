// Writes HLS media playlists, live and recorded (RFC 8216 4.3; parts: RFC 8216bis 4.4.3.7, 4.4.3.8, 4.4.4.9). Version 7
// is required for byte ranges and initialization sections of fragmented MP4. The head and each entry are separate strings, so that the caller can cache
// a long playlist and append to it.

export type ByteRange = { readonly bytes: number; readonly offset: number }

/** Some frames of an entry, which players can load before the entry is complete. */
export type PlaylistPart = {
  readonly uri: string
  readonly durationSeconds: number
  /** It begins with a key frame. */
  readonly isIndependent: boolean
}

export type PlaylistEntry = OpenEntry & {
  readonly uri: string
  readonly durationSeconds: number
  readonly byteRange?: ByteRange
}

/** What is known of an entry before it is complete. */
export type OpenEntry = {
  /** The initialization section, given at the first entry that it applies to. */
  readonly map?: { readonly uri: string; readonly byteRange?: ByteRange }
  /** Wall clock of the first frame, Unix milliseconds. */
  readonly programDateMs?: number
  /** The timestamps, codecs or tracks do not continue those of the previous entry. */
  readonly isDiscontinuity?: boolean
  /** In order, without gaps. */
  readonly parts?: readonly PlaylistPart[] | undefined
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
  /** The playlist has parts, none of them longer than this, and the server holds requests for what is about to come. */
  readonly partTargetSeconds?: number | undefined
}

/** Players stay this many parts behind the newest one. RFC 8216bis 4.4.3.8 recommends it. */
const heldBackParts = 3

export function writePlaylistHead(head: PlaylistHead): string {
  const { targetDurationSeconds, type, mediaSequence, discontinuitySequence, isIndependent, start } = head
  const { partTargetSeconds } = head
  let text = `#EXTM3U\n#EXT-X-VERSION:${partTargetSeconds ? 9 : 7}\n#EXT-X-TARGETDURATION:${targetDurationSeconds}\n`
  if (partTargetSeconds) {
    const holdBack = (heldBackParts * partTargetSeconds).toFixed(3)
    text += `#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=${holdBack}\n`
    text += `#EXT-X-PART-INF:PART-TARGET=${partTargetSeconds.toFixed(3)}\n`
  }
  if (type) text += `#EXT-X-PLAYLIST-TYPE:${type}\n`
  text += `#EXT-X-MEDIA-SEQUENCE:${mediaSequence}\n`
  if (discontinuitySequence !== undefined) text += `#EXT-X-DISCONTINUITY-SEQUENCE:${discontinuitySequence}\n`
  if (isIndependent) text += '#EXT-X-INDEPENDENT-SEGMENTS\n'
  if (start === 'first_entry') text += '#EXT-X-START:TIME-OFFSET=0,PRECISE=YES\n'
  else if (start) text += `#EXT-X-START:TIME-OFFSET=${(-start.secondsBeforeEnd).toFixed(3)}\n`
  return text
}

export function writePlaylistEntry(entry: PlaylistEntry): string {
  const { uri, durationSeconds, byteRange } = entry
  const range = byteRange ? `#EXT-X-BYTERANGE:${rangeText(byteRange)}\n` : ''
  return `${writeOpenEntry(entry)}#EXTINF:${durationSeconds.toFixed(5)},\n${range}${uri}\n`
}

/** Follows the last entry. */
export function writeOpenEntry({ map, programDateMs, isDiscontinuity, parts = [] }: OpenEntry): string {
  let text = isDiscontinuity ? '#EXT-X-DISCONTINUITY\n' : ''
  if (map) {
    const range = map.byteRange ? `,BYTERANGE="${rangeText(map.byteRange)}"` : ''
    text += `#EXT-X-MAP:URI="${map.uri}"${range}\n`
  }
  if (programDateMs !== undefined) text += `#EXT-X-PROGRAM-DATE-TIME:${new Date(programDateMs).toISOString()}\n`
  for (const { uri, durationSeconds, isIndependent } of parts) {
    text += `#EXT-X-PART:DURATION=${durationSeconds.toFixed(5)},URI="${uri}"${isIndependent ? ',INDEPENDENT=YES' : ''}\n`
  }
  return text
}

/** The last line: the part that comes next. Its request is held until it exists. */
export function writePreloadHint(uri: string): string {
  return `#EXT-X-PRELOAD-HINT:TYPE=PART,URI="${uri}"\n`
}

/** Follows the last entry of a complete playlist. */
export const playlistEnd = '#EXT-X-ENDLIST\n'

function rangeText({ bytes, offset }: ByteRange): string {
  return `${bytes}@${offset}`
}

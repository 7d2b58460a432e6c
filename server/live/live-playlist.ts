// The text of a live HLS media playlist that slides. RFC 8216 4.3 and 6.2.2.

export type PlaylistSegment = {
  readonly url: string
  /** Of its initialization section. */
  readonly mapUrl: string
  readonly durationMs: number
  /** Wall clock of its first frame, Unix milliseconds. */
  readonly wallMs: number
  /** Its time axis or format differs from those of the segment before, or something is missing between them. */
  readonly isDiscontinuity: boolean
}

export type LivePlaylist = {
  /** Number of the first segment listed. */
  readonly mediaSequence: number
  /** Discontinuities before the first segment listed, that segment's own included once it is no longer told. */
  readonly discontinuitySequence: number
  /** Whole seconds, no less than any segment's duration; must not shrink between two readings. */
  readonly targetDurationS: number
  readonly segments: readonly PlaylistSegment[]
  /** True when a player may begin at any segment. */
  readonly isIndependent: boolean
  /** Seconds before the end of the list where a player shall begin; undefined: where it likes. */
  readonly startBeforeEndS: number | undefined
}

export function writeLivePlaylist(playlist: LivePlaylist): string {
  const lines = [
    '#EXTM3U',
    '#EXT-X-VERSION:7',
    `#EXT-X-TARGETDURATION:${playlist.targetDurationS}`,
    `#EXT-X-MEDIA-SEQUENCE:${playlist.mediaSequence}`,
    `#EXT-X-DISCONTINUITY-SEQUENCE:${playlist.discontinuitySequence}`,
  ]
  if (playlist.isIndependent) lines.push('#EXT-X-INDEPENDENT-SEGMENTS')
  if (playlist.startBeforeEndS !== undefined) {
    lines.push(`#EXT-X-START:TIME-OFFSET=${(-playlist.startBeforeEndS).toFixed(3)}`)
  }
  let mapUrl: string | undefined
  for (const segment of playlist.segments) {
    if (segment.isDiscontinuity) lines.push('#EXT-X-DISCONTINUITY')
    if (segment.isDiscontinuity || segment.mapUrl !== mapUrl) lines.push(`#EXT-X-MAP:URI="${segment.mapUrl}"`)
    mapUrl = segment.mapUrl
    lines.push(
      `#EXT-X-PROGRAM-DATE-TIME:${new Date(segment.wallMs).toISOString()}`,
      `#EXTINF:${(segment.durationMs / 1000).toFixed(5)},`,
      segment.url,
    )
  }
  return `${lines.join('\n')}\n`
}

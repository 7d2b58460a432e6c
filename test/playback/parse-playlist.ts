// Reads the HLS playlists of recorded streams for tests; supports the tags that the server uses. RFC 8216 4.3.

export type ReadEntry = {
  uri: string
  seconds: number
  bytes: number
  offset: number
  tags: string[]
  dateMs: number | undefined
}

export function parsePlaylist(text: string): { entries: ReadEntry[]; head: string[]; isEnded: boolean } {
  const entries: ReadEntry[] = []
  const lines = text.trim().split('\n')
  let tags: string[] = []
  const head: string[] = []
  for (const line of lines) {
    if (line === '#EXT-X-ENDLIST') continue
    if (line.startsWith('#')) {
      if (
        entries.length === 0 &&
        tags.length === 0 &&
        /^#EXT(M3U|-X-(VERSION|TARGET|PLAYLIST|MEDIA|DISCONTINUITY-SEQ|START))/.test(line)
      )
        head.push(line)
      else tags.push(line)
      continue
    }
    const find = (tag: string) => tags.find((t) => t.startsWith(`#${tag}:`))?.slice(tag.length + 2)
    const [bytes, offset] = (find('EXT-X-BYTERANGE') ?? '').split('@').map(Number)
    const date = find('EXT-X-PROGRAM-DATE-TIME')
    entries.push({
      uri: line,
      seconds: Number.parseFloat(find('EXTINF')!),
      bytes: bytes!,
      offset: offset!,
      tags,
      dateMs: date === undefined ? undefined : Date.parse(date),
    })
    tags = []
  }
  return { entries, head, isEnded: lines.at(-1) === '#EXT-X-ENDLIST' }
}

// Reads the playlist of a recorded stream (RFC 8216): which bytes of which files, in order.

/**
 * @typedef {{ url: string, offset: number, bytes: number }} Range
 * @typedef {{ map: Range, ranges: Range[], seconds: number }} Part what one initialization section holds for
 */

/** Ranges that follow each other in a file are asked for at once, up to this many bytes. */
const maxBytes = 8 * 1024 * 1024

/** @returns {{ parts: Part[], isComplete: boolean }} `isComplete`: nothing will be added any more. */
export function parsePlaylist(text, playlistUrl) {
  const parts = []
  let seconds = 0
  let range = ''
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith('#EXT-X-MAP:')) {
      const [, uri] = /URI="([^"]*)"/.exec(line) ?? []
      const [, mapRange] = /BYTERANGE="([^"]*)"/.exec(line) ?? []
      if (uri === undefined || mapRange === undefined) throw new Error(`cannot read this line of the playlist: ${line}`)
      parts.push({ map: parseRange(mapRange, uri, playlistUrl), ranges: [], seconds: 0 })
    } else if (line.startsWith('#EXTINF:')) {
      seconds = Number.parseFloat(line.slice('#EXTINF:'.length))
    } else if (line.startsWith('#EXT-X-BYTERANGE:')) {
      range = line.slice('#EXT-X-BYTERANGE:'.length)
    } else if (line !== '' && !line.startsWith('#')) {
      const part = parts.at(-1)
      if (!part) throw new Error('the playlist names media before it says how to read them')
      append(part.ranges, parseRange(range, line, playlistUrl))
      part.seconds += seconds
    }
  }
  return { parts: parts.filter(({ ranges }) => ranges.length > 0), isComplete: text.includes('#EXT-X-ENDLIST') }
}

function append(ranges, next) {
  const last = ranges.at(-1)
  const follows = last && last.url === next.url && last.offset + last.bytes === next.offset
  if (follows && last.bytes + next.bytes <= maxBytes) last.bytes += next.bytes
  else ranges.push(next)
}

function parseRange(text, uri, playlistUrl) {
  const [, bytes, offset] = /^(\d+)@(\d+)$/.exec(text) ?? []
  if (bytes === undefined) throw new Error(`expected a byte range like 100@0 in the playlist, got "${text}"`)
  return { url: new URL(uri, playlistUrl).href, offset: Number(offset), bytes: Number(bytes) }
}

// A media playlist (RFC 8216) as stretches that one decoder can play from their beginning to their end: each begins at a
// discontinuity or at another initialization section. Knows the tags, not who wrote them.

/** `range`: first and last byte; undefined: all of it. */
export type Resource = { readonly url: string; readonly range: readonly [number, number] | undefined }

export type Entry = Resource & {
  /** Wall clock of its first picture, Unix milliseconds. */
  readonly startMs: number
  readonly durationMs: number
}

export type Section = { readonly map: Resource; readonly entries: readonly Entry[] }

export type Sections = { readonly sections: readonly Section[]; readonly isEnded: boolean }

/** `url`: where the playlist came from. Throws when an entry lacks what the audit needs. */
export function parseSections(text: string, url: string): Sections {
  const sections: { map: Resource; entries: Entry[] }[] = []
  let map: Resource | undefined
  let isCut = true
  let nextStartMs: number | undefined
  let durationMs: number | undefined
  let range: string | undefined
  for (const line of text.split('\n').map((each) => each.trim())) {
    const [tag = '', value = ''] = splitTag(line)
    if (tag === '#EXT-X-DISCONTINUITY') isCut = true
    else if (tag === '#EXT-X-PROGRAM-DATE-TIME') nextStartMs = Date.parse(value)
    else if (tag === '#EXTINF') durationMs = Number.parseFloat(value) * 1000
    else if (tag === '#EXT-X-BYTERANGE') range = value
    else if (tag === '#EXT-X-MAP') {
      const next = parseResource(/URI="([^"]*)"/.exec(value)?.[1], /BYTERANGE="([^"]*)"/.exec(value)?.[1], url)
      // The same head again, of the next file of a run, goes on in the same decoder.
      map = next
    } else if (line !== '' && !line.startsWith('#')) {
      if (map === undefined || durationMs === undefined || nextStartMs === undefined)
        throw new Error(`an entry of the playlist lacks EXT-X-MAP, EXTINF or EXT-X-PROGRAM-DATE-TIME: ${line}`)
      if (isCut) sections.push({ map, entries: [] })
      isCut = false
      sections.at(-1)!.entries.push({ ...parseResource(line, range, url), startMs: nextStartMs, durationMs })
      nextStartMs += durationMs
      durationMs = undefined
      range = undefined
    }
  }
  return { sections, isEnded: text.trimEnd().endsWith('#EXT-X-ENDLIST') }
}

function splitTag(line: string): [string, string] {
  const colon = line.indexOf(':')
  return line.startsWith('#') && colon > 0 ? [line.slice(0, colon), line.slice(colon + 1)] : [line, '']
}

function parseResource(uri: string | undefined, range: string | undefined, base: string): Resource {
  if (uri === undefined) throw new Error('expected a URI, got none')
  const { href } = new URL(uri, base)
  if (range === undefined) return { url: href, range: undefined }
  const [length, offset] = range.split('@').map(Number)
  if (length === undefined || offset === undefined || !(length > 0))
    throw new Error(`expected a byte range with an offset, got ${range} of ${uri}`)
  return { url: href, range: [offset, offset + length - 1] }
}

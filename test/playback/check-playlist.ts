// Rules of HLS that Apple's validator checks: for one playlist, for a playlist compared with the one before, and for
// media files compared with the playlist. RFC 8216 4.3, 4.4, 6.2.1, 6.2.2; parts: RFC 8216bis 4.4.3.7, 4.4.3.8, 4.4.4.9.

import { scanBoxes } from '../../server/media/mp4/box-scanner.ts'
import { describeInitSegment } from '../../server/media/mp4/describe-init.ts'
import { parseMovieFragment } from '../../server/media/mp4/fragment-head.ts'
import { parseTimescales } from '../../server/media/mp4/timescale.ts'

export type CheckedEntry = {
  readonly uri: string
  readonly seconds: number
  readonly range: { readonly bytes: number; readonly offset: number } | undefined
  /** URI and byte range, as written. */
  readonly map: string
  readonly dateMs: number | undefined
  readonly sequence: number
  /** Number of discontinuities before it in the stream. */
  readonly discontinuity: number
  /** Of low-latency playlists. An entry that is not new any more has none. */
  readonly parts: readonly CheckedPart[]
}

export type CheckedPart = { readonly uri: string; readonly seconds: number; readonly isIndependent: boolean }

export type CheckedPlaylist = {
  readonly entries: readonly CheckedEntry[]
  readonly targetSeconds: number
  readonly version: number
  readonly type: string | undefined
  readonly isEnded: boolean
  /** It declares that every segment begins with a key frame. */
  readonly isIndependent: boolean
  /** The tags of low-latency playlists that must not change, as written. */
  readonly lowLatency: string
  /** Of the entry that is not complete. */
  readonly openParts: readonly CheckedPart[]
  /** The part that comes next. */
  readonly hint: string | undefined
  /** One message for each violation. */
  readonly faults: readonly string[]
}

const headTags =
  /^#EXT(M3U|-X-(VERSION|TARGETDURATION|PLAYLIST-TYPE|MEDIA-SEQUENCE|DISCONTINUITY-SEQUENCE|START|INDEPENDENT-SEGMENTS|SERVER-CONTROL|PART-INF)\b)/
const entryTags = /^#(EXTINF|EXT-X-(BYTERANGE|DISCONTINUITY|MAP|PROGRAM-DATE-TIME))\b/

/** Maximum difference between times from `EXTINF` and from `PROGRAM-DATE-TIME` between discontinuities. */
const maxDriftMs = 500

export type PlaylistOptions = {
  /** Of playback, relative to the wall clock. Default: 1. */
  readonly speed?: number
  /** The camera may leave out frames. Nothing says when the next one comes, so parts may be short. */
  readonly isUneven?: boolean
}

export function checkPlaylist(text: string, { speed = 1, isUneven = false }: PlaylistOptions = {}): CheckedPlaylist {
  const faults: string[] = []
  const check = (isRight: boolean, message: string) => {
    if (!isRight) faults.push(message)
  }
  const lines = text.split('\n')
  check(lines[0] === '#EXTM3U', 'the first line is #EXTM3U')
  check(lines.pop() === '', 'the last line is ended')
  const head = new Map<string, string>()
  const number = (tag: string, missing: number) => Number(head.get(tag) ?? missing)
  const entries: CheckedEntry[] = []
  let isEnded = false
  let map = ''
  let parts: CheckedPart[] = []
  let hint: string | undefined
  let pending: { seconds?: number; range?: CheckedEntry['range']; dateMs?: number } = {}
  let discontinuities = 0
  for (const line of lines) {
    check(!isEnded, `nothing follows the end: ${line}`)
    check(!/\s$/.test(line) && line !== '', `no white space and no empty line: "${line}"`)
    const [, tag = '', value = ''] = /^#([A-Z0-9-]+)(?::(.*))?$/.exec(line) ?? []
    if (headTags.test(line)) {
      check(entries.length === 0, `tags of the whole playlist come first: ${line}`)
      check(!head.has(tag), `${tag} comes once`)
      head.set(tag, value)
    } else if (line === '#EXT-X-ENDLIST') {
      isEnded = true
    } else if (tag === 'EXT-X-PART') {
      const [, duration, uri = '', independent] =
        /^DURATION=([\d.]+),URI="([^"]+)"(,INDEPENDENT=YES)?$/.exec(value) ?? []
      check(duration !== undefined, `a duration and a URI: ${line}`)
      parts.push({ uri, seconds: Number(duration), isIndependent: independent !== undefined })
    } else if (tag === 'EXT-X-PRELOAD-HINT') {
      hint = /^TYPE=PART,URI="([^"]+)"$/.exec(value)?.[1]
      check(hint !== undefined && line === lines.at(-1), `a part in the last line: ${line}`)
    } else if (entryTags.test(line)) {
      if (tag === 'EXT-X-DISCONTINUITY') discontinuities++
      if (tag === 'EXT-X-MAP') map = value
      if (tag === 'EXTINF') {
        check(/^\d+(\.\d+)?,/.test(value), `a decimal duration and a comma: ${line}`)
        pending.seconds = Number.parseFloat(value)
      }
      if (tag === 'EXT-X-BYTERANGE') pending.range = parseRange(value, line, check)
      if (tag === 'EXT-X-PROGRAM-DATE-TIME') {
        check(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value), `milliseconds and a zone: ${line}`)
        pending.dateMs = Date.parse(value)
      }
    } else {
      check(!line.startsWith('#'), `a tag of HLS: ${line}`)
      const { seconds, range, dateMs } = pending
      check(seconds !== undefined, `a duration before ${line}`)
      check(map !== '', `an initialization section before ${line}`)
      const sequence = number('EXT-X-MEDIA-SEQUENCE', 0) + entries.length
      const discontinuity = number('EXT-X-DISCONTINUITY-SEQUENCE', 0) + discontinuities
      entries.push({ uri: line, seconds: seconds ?? 0, range, map, dateMs, sequence, discontinuity, parts })
      pending = {}
      parts = []
    }
  }
  check(Object.keys(pending).length === 0 || parts.length > 0, 'tags of an entry are followed by its URI or parts')
  const targetSeconds = number('EXT-X-TARGETDURATION', Number.NaN)
  const version = number('EXT-X-VERSION', 1)
  check(Number.isInteger(targetSeconds) && targetSeconds > 0, 'a target duration in whole seconds')
  for (const { seconds, uri } of entries) {
    check(Math.round(seconds) <= targetSeconds, `${uri} of ${seconds} s is not longer than ${targetSeconds} s`)
    check(seconds > 0, `${uri} has a duration`)
  }
  check(version >= 6, 'EXT-X-MAP of media needs version 6')
  const type = head.get('EXT-X-PLAYLIST-TYPE')
  check(type !== 'VOD' || isEnded, 'VOD has an end')
  if (type !== undefined) check(number('EXT-X-MEDIA-SEQUENCE', 0) === 0, `nothing leaves the front of ${type}`)
  checkDates(entries, speed, check)
  const isIndependent = head.has('EXT-X-INDEPENDENT-SEGMENTS')
  const lowLatency = [...head].filter(([tag]) => /SERVER-CONTROL|PART-INF/.test(tag)).join()
  checkParts({ entries, openParts: parts, lowLatency, hint, isUneven }, check)
  const rest = { lowLatency, openParts: parts, hint, faults }
  return { entries, targetSeconds, version, type, isEnded, isIndependent, ...rest }
}

/** Returns the changes from one load of a playlist to the next that are not allowed. */
export function checkNextPlaylist(before: CheckedPlaylist, next: CheckedPlaylist): string[] {
  const faults: string[] = []
  const check = (isRight: boolean, message: string) => {
    if (!isRight) faults.push(message)
  }
  check(next.targetSeconds === before.targetSeconds, 'the target duration stays')
  check(next.version === before.version, 'the version stays')
  check(next.lowLatency === before.lowLatency, 'what players are told of parts stays')
  check(next.type === before.type, 'the type stays')
  checkSameParts(before, next, check)
  const [first] = next.entries
  const [firstBefore] = before.entries
  const lastBefore = before.entries.at(-1)
  if (!lastBefore || !firstBefore) return faults
  check(first !== undefined, 'what was listed does not become nothing')
  if (!first) return faults
  check(first.sequence >= firstBefore.sequence, 'sequence numbers do not go back')
  check(first.sequence <= lastBefore.sequence + 1, 'no number is left out')
  check(next.entries.at(-1)!.sequence >= lastBefore.sequence, 'nothing leaves at the end')
  if (before.type !== undefined)
    check(first.sequence === firstBefore.sequence, `nothing leaves the front of ${before.type}`)
  if (before.isEnded) {
    check(next.isEnded, 'the end stays')
    check(next.entries.at(-1)!.sequence === lastBefore.sequence, 'nothing follows the end')
  }
  for (const entry of next.entries) {
    const earlier = before.entries[entry.sequence - firstBefore.sequence]
    if (!earlier) continue
    const same: (keyof CheckedEntry)[] = ['uri', 'seconds', 'discontinuity']
    for (const key of same)
      check(entry[key] === earlier[key], `${key} of entry ${entry.sequence} stays ${earlier[key]}`)
    check(JSON.stringify(entry.range) === JSON.stringify(earlier.range), `the range of entry ${entry.sequence} stays`)
    if (earlier.dateMs !== undefined)
      check(entry.dateMs === earlier.dateMs, `the date of entry ${entry.sequence} stays`)
    // A player may keep the section, or fetch it with the entry.
    check(entry.map === earlier.map, `the map of entry ${entry.sequence} stays`)
  }
  return faults
}

/**
 * `init` and `bytes` are the content of the URLs in the playlist. Of one that is not independent, an entry may be a later
 * part of a long group of pictures.
 */
export function checkMedia(
  entry: Pick<CheckedEntry, 'uri' | 'seconds' | 'range'>,
  init: Uint8Array,
  bytes: Uint8Array,
  isIndependent = true,
): string[] {
  const faults: string[] = []
  const check = (isRight: boolean, message: string) => {
    if (!isRight) faults.push(`${entry.uri}: ${message}`)
  }
  const { boxes, restOffset } = scanBoxes(bytes)
  check(restOffset === bytes.length, 'whole boxes')
  check(
    boxes[0]?.type !== 'ftyp' && boxes.every(({ type }) => type !== 'moov'),
    'no initialization section among the media',
  )
  if (entry.range) check(bytes.length === entry.range.bytes, `${entry.range.bytes} bytes, got ${bytes.length}`)
  const { codecs } = describeInitSegment(init)
  check(
    codecs.split(',').every((codec) => /^(avc[13]|hvc1|hev1|mp4a|opus|jpeg|mjpa|mp4v)/i.test(codec)),
    `known codecs: ${codecs}`,
  )
  const timescales = parseTimescales(init)
  const seconds = new Map<number, number>()
  const firstMoof = boxes.find(({ type }) => type === 'moof')
  for (const box of boxes) {
    if (box.type !== 'moof') continue
    for (const track of parseMovieFragment(bytes.subarray(box.offset, box.offset + box.bytes)).tracks) {
      const timescale = timescales.get(track.trackId)
      check(timescale !== undefined, `track ${track.trackId} is in the initialization section`)
      // Entries with silence are as recorded: parts of a long group of pictures. Within a segment, such a group has parts too.
      if (box === firstMoof && isIndependent && !entry.range && !entry.uri.startsWith('silent-'))
        check(track.firstIsKey, 'begins with a key frame')
      seconds.set(track.trackId, (seconds.get(track.trackId) ?? 0) + track.duration / (timescale ?? 1))
    }
  }
  // The last block of audio before a few frames may extend past them.
  check(
    [...timescales.keys()].every((trackId) => seconds.has(trackId)) || entry.seconds < 0.15,
    'samples of every track',
  )
  const [video = 0] = seconds.values()
  check(Math.abs(video - entry.seconds) < 0.02, `lasts ${entry.seconds} s, its frames ${video} s`)
  return faults
}

type CheckedParts = Pick<CheckedPlaylist, 'entries' | 'openParts' | 'lowLatency' | 'hint'> & {
  readonly isUneven: boolean
}

function checkParts({ entries, openParts, lowLatency, hint, isUneven }: CheckedParts, check: Check): void {
  const all = [...entries.map(({ parts }) => parts), openParts]
  const target = Number(/PART-TARGET=([\d.]+)/.exec(lowLatency)?.[1] ?? 0)
  const holdBack = Number(/PART-HOLD-BACK=([\d.]+)/.exec(lowLatency)?.[1] ?? 0)
  check(target > 0 || (hint === undefined && all.flat().length === 0), 'parts have a target duration')
  check(holdBack >= 3 * target - 1e-6, `players stay three parts behind, not ${holdBack} s`)
  if (target > 0) check(/CAN-BLOCK-RELOAD=YES/.test(lowLatency), 'requests are held')
  for (const [i, parts] of all.entries()) {
    for (const [j, { uri, seconds }] of parts.entries()) {
      check(seconds <= target, `${uri} of ${seconds} s is not longer than ${target} s`)
      const mayBeShort = isUneven || (j === parts.length - 1 && i < all.length - 1)
      check(mayBeShort || seconds >= 0.85 * target, `${uri} of ${seconds} s is not much shorter than ${target} s`)
    }
    const entry = entries[i]
    const sum = parts.reduce((total, { seconds }) => total + seconds, 0)
    // The part in which the camera stood still is listed with the target duration.
    const isCut = parts.some(({ seconds }) => seconds === target)
    if (entry && parts.length > 0)
      check(
        Math.abs(sum - entry.seconds) < 0.01 || (isCut && sum < entry.seconds),
        `the parts of ${entry.uri} last ${sum} s of ${entry.seconds} s`,
      )
  }
}

/** What is listed of an entry continues what was listed before, until none of its parts is. */
function checkSameParts(before: CheckedPlaylist, next: CheckedPlaylist, check: Check): void {
  const listsOf = ({ entries, openParts }: CheckedPlaylist) => {
    const lists = new Map(entries.map(({ sequence, parts }) => [sequence, parts]))
    return lists.set((entries.at(-1)?.sequence ?? 0) + 1, openParts)
  }
  const later = listsOf(next)
  for (const [sequence, parts] of listsOf(before)) {
    const now = later.get(sequence) ?? []
    if (now.length === 0) continue
    const same = JSON.stringify(now.slice(0, parts.length)) === JSON.stringify(parts)
    check(same, `the parts of entry ${sequence} stay`)
  }
  const isCome = (uri: string) => [...later.values()].flat().some((part) => part.uri === uri)
  const isEnded = next.entries.some(({ discontinuity }) => discontinuity !== before.entries.at(-1)?.discontinuity)
  // The parts of an entry that is older are not listed any more.
  const isListed = (later.get((before.entries.at(-1)?.sequence ?? 0) + 1) ?? []).length > 0
  if (before.hint !== undefined && next.hint !== before.hint && isListed)
    check(isCome(before.hint) || isEnded, `${before.hint} comes`)
}

type Check = (isRight: boolean, message: string) => void

function parseRange(value: string, line: string, check: Check): CheckedEntry['range'] {
  const [, bytes, offset] = /^(\d+)@(\d+)$/.exec(value) ?? []
  check(Number(bytes) > 0 && offset !== undefined, `bytes and an offset: ${line}`)
  return { bytes: Number(bytes), offset: Number(offset) }
}

function checkDates(entries: readonly CheckedEntry[], speed: number, check: Check): void {
  let expectedMs: number | undefined
  let last: CheckedEntry | undefined
  for (const entry of entries) {
    const { dateMs, seconds, uri, discontinuity } = entry
    if (dateMs !== undefined && expectedMs !== undefined) {
      const isJump = discontinuity !== last?.discontinuity
      check(dateMs >= expectedMs - maxDriftMs || isJump, `the date of ${uri} does not go back`)
      check(isJump || Math.abs(dateMs - expectedMs) <= maxDriftMs, `the date of ${uri} follows from the durations`)
    }
    if (dateMs !== undefined) expectedMs = dateMs
    if (expectedMs !== undefined) expectedMs += seconds * 1000 * speed
    last = entry
  }
  check(entries.length === 0 || entries[0]!.dateMs !== undefined, 'the first entry has a date')
}

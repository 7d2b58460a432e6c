// Writes the start of an MP4 file whose samples follow in one `mdat`: `ftyp`, `moov` with all tables, and the header of
// `mdat`. The track descriptions are copied from the initialization section that the samples were recorded with.
// ISO/IEC 14496-12 8.5 to 8.7.

import { AppError } from '../../base/error.ts'
import { ascii, type Box, box, countBytes, fullBox, u16, u32, writeBoxes } from './box.ts'
import { childBoxes } from './box-reader.ts'
import { type ScannedBox, scanBoxes } from './box-scanner.ts'

/** One value per sample, in decoding order; times are in the timescale of the track. */
export type SampleTables = {
  readonly sizes: Uint32Array
  readonly durations: Uint32Array
  readonly compositionOffsets: Int32Array
  readonly isKey: Uint8Array
}

export type ProgressiveTrack = SampleTables & {
  readonly trackId: number
  /** The initialization sections that describe the track, and the id of the track in them. */
  readonly inits: readonly Uint8Array[]
  readonly sourceId: number
  /**
   * Runs of consecutive samples; offsets are relative to the content of `mdat`. `init`: which of `inits` describes them,
   * from 0.
   */
  readonly chunks: readonly { readonly offset: number; readonly samples: number; readonly init: number }[]
  /** Track time at which the movie starts; negative when the track starts later than the movie. */
  readonly startTicks: number
  readonly timescale: number
}

type MovieFacts = {
  readonly duration90k: number
  readonly dataBytes: number
  /** When the movie was recorded: the wall clock of its beginning, Unix milliseconds. */
  readonly startMs: number
}

/** A 32-bit value at a position of a box's content. */
type Value = readonly [at: number, value: number]

/** The timescale of the movie, as in recorded initialization sections. */
const movieTimescale = 90_000

/** Throws 'corrupt' when an initialization section has an unsupported form. */
export function writeProgressiveHead(
  tracks: readonly ProgressiveTrack[],
  { duration90k, dataBytes, startMs }: MovieFacts,
): Uint8Array {
  const init = tracks[0]?.inits[0] ?? new Uint8Array()
  const created = toMovieTime(startMs)
  const movieHeader = getBox(init, childBoxes(init, getBox(init, scanBoxes(init).boxes, 'moov')), 'mvhd')
  const nextTrackId = 1 + Math.max(...tracks.map(({ trackId }) => trackId))
  const places = tracks.map(({ chunks }) => new Uint8Array(chunks.length * 8))
  const boxes = [
    box('ftyp', ascii('isom'), u32(0x200), ascii('isomiso4mp41')),
    box(
      'moov',
      withValues(
        init,
        movieHeader,
        ...created,
        [16, duration90k],
        [movieHeader.bytes - movieHeader.headerBytes - 4, nextTrackId],
      ),
      ...tracks.map((track, i) => writeTrack(track, { duration90k, created, places: places[i]! })),
    ),
  ]
  const mdat = new Uint8Array(16)
  const view = new DataView(mdat.buffer)
  view.setUint32(0, 1)
  view.setUint32(4, 0x6d646174 /* mdat */)
  view.setBigUint64(8, BigInt(dataBytes + mdat.length))
  // Offsets have a fixed length, so the position of the samples is known before they are.
  const dataStart = countBytes(boxes) + mdat.length
  for (const [i, { chunks }] of tracks.entries()) {
    const view = new DataView(places[i]!.buffer)
    for (const [j, { offset }] of chunks.entries()) view.setBigUint64(j * 8, BigInt(dataStart + offset))
  }
  const head = writeBoxes(boxes)
  const out = new Uint8Array(head.length + mdat.length)
  out.set(head)
  out.set(mdat, head.length)
  return out
}

function writeTrack(
  track: ProgressiveTrack,
  { duration90k, created, places }: { duration90k: number; created: readonly Value[]; places: Uint8Array },
): Box {
  const [init = new Uint8Array()] = track.inits
  const inTrack = findTrack(init, track.sourceId)
  const inMedia = childBoxes(init, getBox(init, inTrack, 'mdia'))
  const inInformation = childBoxes(init, getBox(init, inMedia, 'minf'))
  let mediaTicks = 0
  for (const ticks of track.durations) mediaTicks += ticks
  return box(
    'trak',
    withValues(init, getBox(init, inTrack, 'tkhd'), ...created, [12, track.trackId], [20, duration90k]),
    box('edts', writeEdits(track, duration90k)),
    box(
      'mdia',
      withValues(init, getBox(init, inMedia, 'mdhd'), ...created, [16, mediaTicks]),
      copy(init, getBox(init, inMedia, 'hdlr')),
      box(
        'minf',
        ...inInformation.filter(({ type }) => type !== 'stbl').map((one) => copy(init, one)),
        box('stbl', describeSamples(track), ...writeTables(track, places)),
      ),
    ),
  )
}

/** The boxes of a track in an initialization section. */
function findTrack(init: Uint8Array, sourceId: number): ScannedBox[] {
  const traks = childBoxes(init, getBox(init, scanBoxes(init).boxes, 'moov')).filter(({ type }) => type === 'trak')
  const idOf = (trak: ScannedBox) => {
    const tkhd = getBox(init, childBoxes(init, trak), 'tkhd')
    return new DataView(init.buffer, init.byteOffset + tkhd.offset).getUint32(tkhd.headerBytes + 12)
  }
  const trak = traks.find((one) => idOf(one) === sourceId)
  if (!trak) throw new AppError('corrupt', `expected track ${sourceId} in the initialization section`)
  return childBoxes(init, trak)
}

/** The sample descriptions of all initialization sections, in their order. */
function describeSamples({ inits, sourceId }: ProgressiveTrack): Box {
  const entries = inits.map((init) => {
    const inMedia = childBoxes(init, getBox(init, findTrack(init, sourceId), 'mdia'))
    const inTable = childBoxes(init, getBox(init, childBoxes(init, getBox(init, inMedia, 'minf')), 'stbl'))
    const { offset, headerBytes, bytes } = getBox(init, inTable, 'stsd')
    // After version, flags and the number of entries, which is one.
    return init.slice(offset + headerBytes + 8, offset + bytes)
  })
  return fullBox('stsd', 0, 0, u32(entries.length), ...entries)
}

/** Seconds from 1904, where the times of MP4 begin, to 1970. */
const movieEpochSeconds = 2_082_844_800

/** Creation and modification time of `mvhd`, `tkhd` and `mdhd`. */
function toMovieTime(ms: number): readonly Value[] {
  const seconds = (Math.floor(ms / 1000) + movieEpochSeconds) >>> 0
  return [
    [4, seconds],
    [8, seconds],
  ]
}

/** A track that starts after the movie is preceded by an empty edit. */
function writeEdits({ startTicks, timescale }: ProgressiveTrack, duration90k: number): Box {
  const edit = (ticks90k: number, mediaTime: number) => [...u32(ticks90k, mediaTime), ...u16(1, 0)]
  const late90k = startTicks < 0 ? Math.min(Math.round((-startTicks * movieTimescale) / timescale), duration90k) : 0
  const edits = [...(late90k > 0 ? [edit(late90k, -1)] : []), edit(duration90k - late90k, Math.max(0, startTicks))]
  return fullBox('elst', 0, 0, u32(edits.length), edits.flat())
}

/** `places`: the offsets of the chunks, which are filled in later. */
function writeTables(
  { sizes, durations, compositionOffsets, isKey, chunks }: ProgressiveTrack,
  places: Uint8Array,
): Box[] {
  const keys = new Uint32Array(isKey.length)
  let keyCount = 0
  for (let i = 0; i < isKey.length; i++) if (isKey[i]) keys[keyCount++] = i + 1
  const counts = chunks.flatMap(({ samples, init }, i) => {
    const before = chunks[i - 1]
    return before?.samples === samples && before.init === init ? [] : [i + 1, samples, init + 1]
  })
  return [
    table('stts', 0, countRuns(durations), 2),
    ...(compositionOffsets.some((offset) => offset !== 0) ? [table('ctts', 1, countRuns(compositionOffsets), 2)] : []),
    ...(keyCount < isKey.length ? [table('stss', 0, keys.subarray(0, keyCount), 1)] : []),
    table('stsc', 0, Uint32Array.from(counts), 3),
    fullBox('stsz', 0, 0, u32(0, sizes.length), toBigEndian(sizes)),
    fullBox('co64', 0, 0, u32(chunks.length), places),
  ]
}

function table(type: string, version: number, values: Uint32Array, valuesPerEntry: number): Box {
  return fullBox(type, version, 0, u32(values.length / valuesPerEntry), toBigEndian(values))
}

/** Pairs of a count and a value. */
function countRuns(values: Uint32Array | Int32Array): Uint32Array {
  const pairs = new Uint32Array(values.length * 2)
  let end = 0
  for (let i = 0; i < values.length; i++) {
    if (i > 0 && values[i] === values[i - 1]) pairs[end - 2]!++
    else {
      pairs[end++] = 1
      pairs[end++] = values[i]!
    }
  }
  return pairs.subarray(0, end)
}

const isLittleEndian = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1

/** Returns a copy as bytes in network order. */
function toBigEndian(values: Uint32Array): Uint8Array {
  const bytes = Buffer.from(values.slice().buffer)
  return isLittleEndian ? bytes.swap32() : bytes
}

function getBox(bytes: Uint8Array, boxes: readonly ScannedBox[], type: string): ScannedBox {
  const found = boxes.find((one) => one.type === type)
  if (!found || bytes.length === 0)
    throw new AppError('corrupt', `expected a ${type} box in the initialization section`)
  return found
}

const copy = (bytes: Uint8Array, { type, offset, headerBytes, bytes: size }: ScannedBox): Box =>
  box(type, bytes.slice(offset + headerBytes, offset + size))

/** Copies a version 0 box with other 32-bit values at the given positions of its content. */
function withValues(bytes: Uint8Array, found: ScannedBox, ...values: readonly Value[]): Box {
  const content = bytes.slice(found.offset + found.headerBytes, found.offset + found.bytes)
  for (const [at, value] of values) {
    if (content[0] !== 0 || content.length < at + 4)
      throw new AppError('corrupt', `expected a ${found.type} box of version 0`)
    new DataView(content.buffer).setUint32(at, value)
  }
  return box(found.type, content)
}

// The fragments of a segment as a few bytes each, for the index row. For each fragment, a byte says what differs from
// the default (fragments follow each other without holes and have the duration of the previous one), followed by its
// size and the differences as LEB128 varints, signed ones in zigzag, and the hole before the fragment, if any. Our own
// format; the first byte is the version. Version 1 had all differences and no such byte, version 2 no holes.

import { AppError } from '../base/error.ts'
import type { Fragment, FragmentHole } from './segment.ts'

const version = 3

/** What differs, in the order of the bits and of the numbers that follow. */
const fields = ['offset', 'start90k', 'duration90k', 'startMs', 'durationMs'] as const
const keyBit = 1 << fields.length
const holeBit = keyBit << 1
const damagedBit = holeBit << 1

type Differences = readonly [number, number, number, number, number]

/** All values must be safe integers; offsets and lengths must not be negative. */
export function writeFragmentTable(fragments: readonly Fragment[]): Uint8Array {
  const out: number[] = [version]
  pushVarint(out, fragments.length)
  let last = before
  for (const fragment of fragments) {
    const differences = compare(fragment, last)
    let flags = (fragment.isKey ? keyBit : 0) | (fragment.hole ? holeBit : 0) | (fragment.isDamaged ? damagedBit : 0)
    for (let i = 0; i < differences.length; i++) if (differences[i] !== 0) flags |= 1 << i
    out.push(flags)
    pushVarint(out, fragment.bytes)
    for (const difference of differences) if (difference !== 0) pushSigned(out, difference)
    if (fragment.hole) pushHole(out, fragment.hole)
    last = fragment
  }
  return Uint8Array.from(out)
}

/** Throws 'corrupt' for anything that no version of `writeFragmentTable` writes. */
export function parseFragmentTable(bytes: Uint8Array): Fragment[] {
  if (bytes[0] !== version && bytes[0] !== 2 && bytes[0] !== 1) {
    throw new AppError('corrupt', `expected fragment table version ${version}, got ${bytes[0] ?? 'no bytes'}`)
  }
  const reader = new VarintReader(bytes, 1)
  const readNext = bytes[0] === 1 ? readFirstVersion : readFragment
  const count = reader.unsigned()
  const fragments: Fragment[] = []
  let last = before
  for (let i = 0; i < count; i++) {
    last = readNext(reader, last)
    fragments.push(last)
  }
  if (!reader.isAtEnd) throw new AppError('corrupt', 'expected the fragment table to end after its last fragment')
  return fragments
}

function compare(fragment: Fragment, last: Fragment): Differences {
  return [
    fragment.offset - (last.offset + last.bytes),
    fragment.start90k - (last.start90k + last.duration90k),
    fragment.duration90k - last.duration90k,
    fragment.startMs - (last.startMs + last.durationMs),
    fragment.durationMs - last.durationMs,
  ]
}

function readFragment(reader: VarintReader, last: Fragment): Fragment {
  const flags = reader.byte()
  if (flags >= 2 * damagedBit) throw new AppError('corrupt', 'expected no unknown flag in the fragment table')
  const bytes = reader.unsigned()
  // Most differences are 0, and a playlist of a day reads 86,400 fragments: without closures and spreads, in half the time.
  const fragment = {
    offset: last.offset + last.bytes + (flags & 1 ? reader.signed() : 0),
    bytes,
    start90k: last.start90k + last.duration90k + (flags & 2 ? reader.signed() : 0),
    duration90k: last.duration90k + (flags & 4 ? reader.signed() : 0),
    startMs: last.startMs + last.durationMs + (flags & 8 ? reader.signed() : 0),
    durationMs: last.durationMs + (flags & 16 ? reader.signed() : 0),
    isKey: (flags & keyBit) !== 0,
  }
  if ((flags & (holeBit | damagedBit)) === 0) return fragment
  const hole = flags & holeBit ? reader.hole() : undefined
  return { ...fragment, ...(hole && { hole }), ...(flags & damagedBit && { isDamaged: true as const }) }
}

function readFirstVersion(reader: VarintReader, last: Fragment): Fragment {
  const offset = last.offset + last.bytes + reader.signed()
  const bytesAndKey = reader.unsigned()
  return {
    offset,
    bytes: Math.floor(bytesAndKey / 2),
    start90k: last.start90k + last.duration90k + reader.signed(),
    duration90k: last.duration90k + reader.signed(),
    startMs: last.startMs + last.durationMs + reader.signed(),
    durationMs: last.durationMs + reader.signed(),
    isKey: bytesAndKey % 2 === 1,
  }
}

const maxReasonLength = 64

const before: Fragment = {
  offset: 0,
  bytes: 0,
  start90k: 0,
  duration90k: 0,
  startMs: 0,
  durationMs: 0,
  isKey: false,
}

function pushVarint(out: number[], value: number): void {
  // Uses division instead of shifts, because times need more than 32 bits.
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) {
      out.push(rest)
      return
    }
    out.push((rest % 128) | 0x80)
  }
}

/** The last bit of the length says whether it was cut; the reason follows in ASCII. */
function pushHole(out: number[], { durationMs, reason, isCut }: FragmentHole): void {
  pushVarint(out, durationMs * 2 + (isCut ? 1 : 0))
  pushVarint(out, reason.length)
  for (let i = 0; i < reason.length; i++) out.push(reason.charCodeAt(i) & 0x7f)
}

function pushSigned(out: number[], value: number): void {
  pushVarint(out, value >= 0 ? value * 2 : -value * 2 - 1)
}

class VarintReader {
  readonly #bytes: Uint8Array
  #at: number

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes
    this.#at = at
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length
  }

  byte(): number {
    const byte = this.#bytes[this.#at++]
    if (byte === undefined) throw new AppError('corrupt', 'expected more of the fragment table, the bytes end')
    return byte
  }

  unsigned(): number {
    let value = 0
    for (let scale = 1; ; scale *= 128) {
      const byte = this.byte()
      value += (byte & 0x7f) * scale
      if (value > Number.MAX_SAFE_INTEGER)
        throw new AppError('corrupt', 'expected numbers below 2^53 in the fragment table')
      if (byte < 0x80) return value
    }
  }

  hole(): FragmentHole {
    const length = this.unsigned()
    const reasonLength = this.unsigned()
    if (reasonLength > maxReasonLength) throw new AppError('corrupt', 'expected a short reason in the fragment table')
    let reason = ''
    for (let i = 0; i < reasonLength; i++) reason += String.fromCharCode(this.byte())
    return { durationMs: Math.floor(length / 2), reason, isCut: length % 2 === 1 }
  }

  signed(): number {
    const value = this.unsigned()
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2
  }
}

// The fragments of a segment as a few bytes each, for the index row. Values are written as differences from what is usual
// (fragments follow each other without holes), as LEB128 varints; signed ones in zigzag. Ours; version in the first byte.

import { AppError } from '../base/error.ts'
import type { Fragment } from './segment.ts'

const version = 1

/** All values must be safe integers, offsets and lengths not negative. */
export function writeFragmentTable(fragments: readonly Fragment[]): Uint8Array {
  const out: number[] = [version]
  pushVarint(out, fragments.length)
  let last = before
  for (const f of fragments) {
    pushSigned(out, f.offset - (last.offset + last.bytes))
    pushVarint(out, f.bytes * 2 + (f.isKey ? 1 : 0))
    pushSigned(out, f.start90k - (last.start90k + last.duration90k))
    pushSigned(out, f.duration90k - last.duration90k)
    pushSigned(out, f.startMs - (last.startMs + last.durationMs))
    pushSigned(out, f.durationMs - last.durationMs)
    last = f
  }
  return Uint8Array.from(out)
}

/** Throws 'corrupt' for anything that `writeFragmentTable` does not write. */
export function parseFragmentTable(bytes: Uint8Array): Fragment[] {
  if (bytes[0] !== version) {
    throw new AppError('corrupt', `expected fragment table version ${version}, got ${bytes[0] ?? 'no bytes'}`)
  }
  const reader = new VarintReader(bytes, 1)
  const count = reader.unsigned()
  const fragments: Fragment[] = []
  let last = before
  for (let i = 0; i < count; i++) {
    const offset = last.offset + last.bytes + reader.signed()
    const bytesAndKey = reader.unsigned()
    const start90k = last.start90k + last.duration90k + reader.signed()
    const duration90k = last.duration90k + reader.signed()
    const startMs = last.startMs + last.durationMs + reader.signed()
    const durationMs = last.durationMs + reader.signed()
    last = {
      offset,
      bytes: Math.floor(bytesAndKey / 2),
      start90k,
      duration90k,
      startMs,
      durationMs,
      isKey: bytesAndKey % 2 === 1,
    }
    fragments.push(last)
  }
  if (!reader.isAtEnd) throw new AppError('corrupt', 'expected the fragment table to end after its last fragment')
  return fragments
}

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
  // Division, not shifts: times need more than 32 bits.
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) {
      out.push(rest)
      return
    }
    out.push((rest % 128) | 0x80)
  }
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

  unsigned(): number {
    let value = 0
    for (let scale = 1; ; scale *= 128) {
      const byte = this.#bytes[this.#at++]
      if (byte === undefined) throw new AppError('corrupt', 'expected more of the fragment table, the bytes end')
      value += (byte & 0x7f) * scale
      if (value > Number.MAX_SAFE_INTEGER)
        throw new AppError('corrupt', 'expected numbers below 2^53 in the fragment table')
      if (byte < 0x80) return value
    }
  }

  signed(): number {
    const value = this.unsigned()
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2
  }
}

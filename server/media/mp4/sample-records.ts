// The samples of the fragments of one file in a compact form: what a player's tables say of them, without their bytes. A
// record describes one fragment: the number of its tracks, and for each the id, the decode time, the offset of the data
// from the beginning of the fragment, the number of samples, then durations, composition offsets and key flags as runs of
// equal values, and the sizes. All numbers are LEB128 varints, the values of runs in zigzag. A minute of 25 frames/s with audio
// has 4 to 10 kB. Our own format.

import { AppError } from '../../base/error.ts'

/** The samples of a track in a fragment, which are stored consecutively. One value per sample; times are in ticks. */
export type SampleRun = {
  readonly trackId: number
  readonly baseDecodeTime: number
  /** Offset of the first sample from the beginning of the fragment. */
  readonly dataOffset: number
  readonly count: number
  readonly sizes: ArrayLike<number>
  readonly durations: ArrayLike<number>
  readonly compositionOffsets: ArrayLike<number>
  /** 1 or true: a decoder can start there. */
  readonly isKey: ArrayLike<number | boolean>
}

/** A run that was read. The arrays have at least `count` values, and are used again for the next run. */
export type ReadRun = {
  trackId: number
  baseDecodeTime: number
  dataOffset: number
  count: number
  /** Sum of the sizes. */
  dataBytes: number
  sizes: Uint32Array
  durations: Uint32Array
  compositionOffsets: Int32Array
  isKey: Uint8Array
}

/** Collects the records of a file that is being written. */
export class SampleRecordWriter {
  /** The number of records. */
  count = 0
  #bytes = new Uint8Array(1024)
  #length = 0

  /** Begins the record of a fragment. `addRun` must follow for each of its tracks. */
  begin(tracks: number): void {
    this.count++
    this.#put(tracks)
  }

  // A recorder calls this for every group of pictures of every camera, rarely enough to stay in the interpreter. So there
  // are no closures and no arrays in between.
  addRun({ trackId, baseDecodeTime, dataOffset, count, sizes, durations, compositionOffsets, isKey }: SampleRun): void {
    this.#put(trackId)
    this.#put(baseDecodeTime)
    this.#put(dataOffset)
    this.#put(count)
    this.#putRuns(durations, count)
    this.#putRuns(compositionOffsets, count)
    this.#putRuns(isKey, count)
    for (let i = 0; i < count; i++) this.#put(sizes[i]!)
  }

  /** All records so far, as a copy. */
  read(): Uint8Array {
    return this.#bytes.slice(0, this.#length)
  }

  /** Pairs of a number of samples and their value. */
  #putRuns(values: ArrayLike<number | boolean>, count: number): void {
    for (let i = 0; i < count; ) {
      const value = values[i]!
      let end = i + 1
      while (end < count && values[end] === value) end++
      this.#put(end - i)
      this.#put(zigzag(Number(value)))
      i = end
    }
  }

  #put(value: number): void {
    if (this.#length + 8 > this.#bytes.length) {
      const larger = new Uint8Array(this.#bytes.length * 2)
      larger.set(this.#bytes)
      this.#bytes = larger
    }
    let rest = value
    while (rest >= 0x80) {
      this.#bytes[this.#length++] = (rest % 0x80) | 0x80
      rest = Math.floor(rest / 0x80)
    }
    this.#bytes[this.#length++] = rest
  }
}

/** Reads the records of a file in order. Throws 'corrupt' for bytes that no writer makes. */
export class SampleRecordReader {
  readonly #bytes: Uint8Array
  #at = 0
  #run: ReadRun = createRun(64)

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length
  }

  /**
   * Calls `take` with each track of the next record. `fragmentBytes`: the length of the fragment, within which all samples
   * must be.
   */
  readRecord(fragmentBytes: number, take?: (run: ReadRun) => void): void {
    const tracks = this.#number()
    for (let i = 0; i < tracks; i++) {
      const run = this.#readRun()
      if (run.dataOffset + run.dataBytes > fragmentBytes) throw new AppError('corrupt', 'expected samples within their fragment') // biome-ignore format: one line
      take?.(run)
    }
  }

  #readRun(): ReadRun {
    const [trackId, baseDecodeTime, dataOffset, count] = [this.#number(), this.#number(), this.#number(), this.#number()] // biome-ignore format: one line
    // Each size has a byte at least.
    if (count === 0 || count > this.#bytes.length - this.#at) throw this.#error()
    if (count > this.#run.sizes.length) this.#run = createRun(count)
    const run = this.#run
    run.trackId = trackId
    run.baseDecodeTime = baseDecodeTime
    run.dataOffset = dataOffset
    run.count = count
    this.#readRuns(run.durations, count)
    this.#readRuns(run.compositionOffsets, count)
    this.#readRuns(run.isKey, count)
    const { sizes } = run
    let dataBytes = 0
    for (let i = 0; i < count; i++) {
      const size = this.#number()
      sizes[i] = size
      dataBytes += size
    }
    run.dataBytes = dataBytes
    return run
  }

  #readRuns(out: Uint32Array | Int32Array | Uint8Array, count: number): void {
    for (let i = 0; i < count; ) {
      const end = i + this.#number()
      const value = unzigzag(this.#number())
      if (end > count || end === i) throw this.#error()
      out.fill(value, i, end)
      if (out[i] !== value) throw this.#error()
      i = end
    }
  }

  #number(): number {
    const bytes = this.#bytes
    const first = bytes[this.#at++]
    if (first === undefined) throw this.#error()
    if (first < 0x80) return first
    let value = first & 0x7f
    for (let scale = 0x80; ; scale *= 0x80) {
      const byte = bytes[this.#at++]
      if (byte === undefined) throw this.#error()
      value += (byte & 0x7f) * scale
      if (value > Number.MAX_SAFE_INTEGER) throw this.#error()
      if (byte < 0x80) return value
    }
  }

  #error(): AppError {
    return new AppError('corrupt', `expected sample records at byte ${this.#at}`)
  }
}

/** Arrays for so many samples. */
export function createRun(capacity: number): ReadRun {
  return {
    ...{ trackId: 0, baseDecodeTime: 0, dataOffset: 0, count: 0, dataBytes: 0 },
    sizes: new Uint32Array(capacity),
    durations: new Uint32Array(capacity),
    compositionOffsets: new Int32Array(capacity),
    isKey: new Uint8Array(capacity),
  }
}

const zigzag = (value: number): number => (value < 0 ? -value * 2 - 1 : value * 2)
const unzigzag = (value: number): number => (value % 2 === 0 ? value / 2 : -(value + 1) / 2)

// Memory that encoded frames lie in, used again without the garbage collector: its cost for buffers that live some seconds was a third
// of what recording a camera cost.
//
// Whoever keeps a frame holds its memory, and releases it when done. Mistakes are on the safe side: what nobody releases is left to the
// collector, and what is released too early is detached, so that a reader finds an empty frame and never another picture.

/** About a second of a usual camera: what the frames of a group of pictures keep alive beyond their own bytes is little. */
const usualBytes = 256 * 1024

/** A stretch of memory, written once from its start to its end. Begins with one holder: who writes it. */
export class FrameMemory {
  readonly bytes: Uint8Array
  readonly #takeBack: ((buffer: ArrayBuffer) => void) | undefined
  #holders = 1

  /** At least `minBytes` long. `takeBack` is given what nobody holds any more; without, the collector takes it. */
  constructor(minBytes = usualBytes, buffer?: ArrayBuffer, takeBack?: (buffer: ArrayBuffer) => void) {
    this.bytes = new Uint8Array(buffer ?? new ArrayBuffer(Math.max(minBytes, usualBytes)))
    this.#takeBack = takeBack
  }

  hold(): void {
    this.#holders++
  }

  release(): void {
    if (--this.#holders === 0) this.#takeBack?.((this.bytes.buffer as ArrayBuffer).transfer())
  }

  /** Somebody reads it who does not say when he is done: it is the collector's from now on. */
  leave(): void {
    this.#holders = Number.POSITIVE_INFINITY
  }
}

export class FrameMemoryPool {
  readonly #maxFreeBytes: number
  #free: ArrayBuffer[] = []
  #freeBytes = 0

  /** `maxFreeBytes`: kept for what is asked for next; of released memory beyond that, the collector takes the rest. */
  constructor(maxFreeBytes: number) {
    this.#maxFreeBytes = maxFreeBytes
  }

  /** At least `minBytes` long. What it holds is not defined. */
  take(minBytes = usualBytes): FrameMemory {
    return new FrameMemory(minBytes, this.#findFree(minBytes), this.#takeBack)
  }

  get freeBytes(): number {
    return this.#freeBytes
  }

  #findFree(minBytes: number): ArrayBuffer | undefined {
    const at = this.#free.findLastIndex(({ byteLength }) => byteLength >= minBytes)
    if (at === -1) return undefined
    const [buffer] = this.#free.splice(at, 1)
    this.#freeBytes -= buffer!.byteLength
    return buffer
  }

  readonly #takeBack = (buffer: ArrayBuffer): void => {
    if (this.#freeBytes + buffer.byteLength > this.#maxFreeBytes) return
    this.#free.push(buffer)
    this.#freeBytes += buffer.byteLength
  }
}

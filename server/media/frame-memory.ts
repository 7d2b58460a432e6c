// Memory for encoded frames that is reused without the garbage collector. Collecting buffers that live for some seconds
// took a third of the cost of recording a camera.
//
// A reader that keeps a frame holds its memory and releases it when done. Mistakes are safe: memory that is never
// released is left to the garbage collector, and memory that is released too early is detached, so that a reader finds
// an empty frame and never the data of another one.

/**
 * About one second of a typical camera. Frames of one group of pictures keep little memory alive beyond their own
 * bytes.
 */
const defaultBytes = 256 * 1024

/** A region of memory that is written once from start to end. Its writer is its first holder. */
export class FrameMemory {
  readonly bytes: Uint8Array
  readonly #reclaim: ((buffer: ArrayBuffer) => void) | undefined
  #holders = 1

  /**
   * The memory has at least `minBytes` bytes. `reclaim` receives the buffer when the last holder has released it;
   * without `reclaim`, the garbage collector frees it.
   */
  constructor(minBytes = defaultBytes, buffer?: ArrayBuffer, reclaim?: (buffer: ArrayBuffer) => void) {
    this.bytes = new Uint8Array(buffer ?? new ArrayBuffer(Math.max(minBytes, defaultBytes)))
    this.#reclaim = reclaim
  }

  hold(): void {
    this.#holders++
  }

  release(): void {
    if (--this.#holders === 0) this.#reclaim?.((this.bytes.buffer as ArrayBuffer).transfer())
  }

  /** Leaves the memory to the garbage collector, for readers that do not report when they are done. */
  leave(): void {
    this.#holders = Number.POSITIVE_INFINITY
  }
}

export class FrameMemoryPool {
  readonly #maxFreeBytes: number
  #free: ArrayBuffer[] = []
  #freeBytes = 0

  /** Keeps up to `maxFreeBytes` of released memory for reuse. The garbage collector frees the rest. */
  constructor(maxFreeBytes: number) {
    this.#maxFreeBytes = maxFreeBytes
  }

  /** Returns memory of at least `minBytes` bytes with undefined content. */
  take(minBytes = defaultBytes): FrameMemory {
    return new FrameMemory(minBytes, this.#findFree(minBytes), this.#reclaim)
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

  readonly #reclaim = (buffer: ArrayBuffer): void => {
    if (this.#freeBytes + buffer.byteLength > this.#maxFreeBytes) return
    this.#free.push(buffer)
    this.#freeBytes += buffer.byteLength
  }
}

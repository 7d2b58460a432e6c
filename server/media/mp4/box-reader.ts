// Reads the content of boxes: the children of a box, and consecutive big-endian values. ISO/IEC 14496-12 4.2.

import { AppError } from '../../base/error.ts'
import { type ScannedBox, scanBoxes } from './box-scanner.ts'

/** Returns the box that `bytes` begins with. Throws 'corrupt' unless it is complete and of this type. */
export function wholeBox(bytes: Uint8Array, type: string): ScannedBox {
  const [found] = scanBoxes(bytes).boxes
  if (found?.type !== type)
    throw new AppError('corrupt', `expected one complete ${type} box, got ${found?.type ?? 'none'}`)
  return found
}

/** Returns the children of a box. Throws 'corrupt' when one extends beyond the end of its parent. */
export function childBoxes(bytes: Uint8Array, parent: ScannedBox): ScannedBox[] {
  const end = parent.offset + parent.bytes
  const { boxes, restOffset } = scanBoxes(bytes, parent.offset + parent.headerBytes, end)
  if (restOffset !== end)
    throw new AppError('corrupt', `expected complete boxes in ${parent.type}, but one extends beyond its end`)
  return boxes
}

/** Reads big-endian values of one box. */
export class Reader {
  readonly #view: DataView
  readonly #end: number
  readonly #type: string
  #at: number

  constructor(bytes: Uint8Array, { type, offset, headerBytes, bytes: size }: ScannedBox) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#type = type
    this.#at = offset + headerBytes
    this.#end = offset + size
  }

  /** Position of the next value in the given bytes. */
  get offset(): number {
    return this.#at
  }

  get left(): number {
    return this.#end - this.#at
  }

  skip(count: number): this {
    this.#at += count
    return this
  }

  u32(): number {
    if (this.left < 4) throw new AppError('corrupt', `expected 4 more bytes in ${this.#type}, got ${this.left}`)
    this.#at += 4
    return this.#view.getUint32(this.#at - 4)
  }

  i32(): number {
    return this.u32() | 0
  }

  u64(): number {
    return this.u32() * 0x100000000 + this.u32()
  }
}

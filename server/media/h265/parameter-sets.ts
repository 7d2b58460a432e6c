// The parameter sets of an H.265 stream, and the decoder configuration that is built from them.

import { AppError } from '../../base/error.ts'
import { BitReader } from '../nal/bit-reader.ts'
import type { ParameterSets, ParameterSetsFormat } from '../nal/nal-codec.ts'
import { ParameterSetStore } from '../nal/parameter-set-store.ts'
import { hevcCodecString, writeHevcConfig } from './hevc-config.ts'
import { hevcNalHeaderBytes, hevcNalType, hevcNalTypeOf } from './nal-unit.ts'
import { parseHevcSps } from './sps.ts'

/** The id of a VPS or PPS lies within this many bytes. */
const idBytes = 16
/** Limit of ITU-T H.265 7.4.3.3.1. */
const maxPpsId = 63

export class H265ParameterSets implements ParameterSets {
  readonly #store = new ParameterSetStore()

  take(bytes: Uint8Array, start: number, end: number): void {
    const kind = hevcNalTypeOf(bytes[start]!)
    if (kind === hevcNalType.sps) this.#takeSps(bytes, start, end)
    else if (kind === hevcNalType.vps || kind === hevcNalType.pps) this.#takeOther(kind, bytes, start, end)
  }

  get isComplete(): boolean {
    return this.#findActive() !== undefined
  }

  takeChange(): ParameterSetsFormat | undefined {
    const active = this.#store.hasChanged ? this.#findActive() : undefined
    if (!active) return undefined
    const sps = parseHevcSps(active)
    const others = this.#list(hevcNalType.sps).filter((set) => set !== active)
    const sets = {
      vps: this.#list(hevcNalType.vps),
      sps: [active, ...others],
      pps: this.#list(hevcNalType.pps),
    }
    const { width, height, order } = sps
    const config = writeHevcConfig(sets)
    this.#store.hasChanged = false
    return { format: { codec: 'h265', width, height, config, codecString: hevcCodecString(sps) }, order }
  }

  #takeSps(bytes: Uint8Array, start: number, end: number): void {
    const nal = bytes.subarray(start, end)
    const { id, vpsId } = parseHevcSps(nal)
    if (this.#store.has(hevcNalType.sps, id, bytes, start, end)) return
    this.#store.put({ kind: hevcNalType.sps, id, parentId: vpsId }, nal, hevcNalType.pps)
  }

  #takeOther(kind: number, bytes: Uint8Array, start: number, end: number): void {
    const reader = new BitReader(bytes.subarray(start, Math.min(end, start + idBytes)))
    reader.bits(hevcNalHeaderBytes * 8)
    const id = kind === hevcNalType.vps ? reader.bits(4) : reader.unsigned()
    if (id > maxPpsId) throw new AppError('corrupt', `H.265: invalid picture parameter set id ${id}`)
    if (this.#store.has(kind, id, bytes, start, end)) return
    const parentId = kind === hevcNalType.pps ? reader.unsigned() : -1
    this.#store.put({ kind, id, parentId }, bytes.subarray(start, end))
  }

  /**
   * The first sequence parameter set that a picture parameter set refers to. Undefined when the stream has no VPS,
   * which MP4 files require.
   */
  #findActive(): Uint8Array | undefined {
    const parents = new Set(this.#store.list(hevcNalType.pps).map(({ parentId }) => parentId))
    const videoSets = new Set(this.#store.list(hevcNalType.vps).map(({ id }) => id))
    const active = this.#store.list(hevcNalType.sps).find(({ id }) => parents.has(id))
    return active && videoSets.has(active.parentId) ? active.bytes : undefined
  }

  #list(kind: number): Uint8Array[] {
    return this.#store.list(kind).map(({ bytes }) => bytes)
  }
}

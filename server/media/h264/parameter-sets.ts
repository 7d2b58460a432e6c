// The parameter sets of an H.264 stream, and the decoder configuration made of them.

import { AppError } from '../../base/error.ts'
import { BitReader } from '../nal/bit-reader.ts'
import type { ParameterSets, SetsFormat } from '../nal/nal-codec.ts'
import { listLengthPrefixedNalUnits } from '../nal/nal-units.ts'
import { ParameterSetStore } from '../nal/parameter-set-store.ts'
import { avcCodecString, writeAvcConfig } from './avc-config.ts'
import { nalType, nalTypeOf } from './nal-unit.ts'
import { parseSps } from './sps.ts'

/** Ids stand at the front of a set: no more of it is looked at to know it again. */
const idBytes = 16
/** The frame number of a slice stands in its first bytes. */
const headBytes = 48
/** ISO/IEC 14496-10 7.4.2.1 and 7.4.2.2. */
const maxSpsId = 31
const maxPpsId = 255
/** What a configuration record can count. */
const maxSpsInConfig = 31

export class H264ParameterSets implements ParameterSets {
  readonly #store = new ParameterSetStore()

  take(bytes: Uint8Array, start: number, end: number): void {
    const kind = nalTypeOf(bytes[start]!)
    if (kind !== nalType.sps && kind !== nalType.pps) return
    const reader = new BitReader(bytes.subarray(start, Math.min(end, start + idBytes)))
    reader.bits(kind === nalType.sps ? 32 : 8)
    const id = reader.unsigned()
    if (id > (kind === nalType.sps ? maxSpsId : maxPpsId))
      throw new AppError('corrupt', `H.264: no parameter set ${id}`)
    if (this.#store.has(kind, id, bytes, start, end)) return
    const parentId = kind === nalType.pps ? reader.unsigned() : -1
    this.#store.put({ kind, id, parentId }, bytes.subarray(start, end), kind === nalType.sps ? nalType.pps : undefined)
  }

  get isComplete(): boolean {
    return this.#findActive() !== undefined
  }

  takeChange(): SetsFormat | undefined {
    const active = this.#store.hasChanged ? this.#findActive() : undefined
    if (!active) return undefined
    const { width, height, order } = parseSps(active)
    const [sps, pps] = [this.#list(nalType.sps), this.#list(nalType.pps)]
    const all = [active, ...sps.filter((set) => set !== active)]
    const config = writeAvcConfig({ sps: all.slice(0, maxSpsInConfig), pps })
    this.#store.hasChanged = false
    return { format: { codec: 'h264', width, height, config, codecString: avcCodecString(active) }, order }
  }

  isNumberedZero(data: Uint8Array): boolean {
    const slice = listLengthPrefixedNalUnits(data).find((unit) => nalTypeOf(unit[0] ?? 0) === nalType.slice)
    const active = this.#findActive()
    if (!slice || !active) return false
    try {
      const { hasColourPlanes, frameNumBits } = parseSps(active).slices
      const reader = new BitReader(slice.subarray(1, headBytes))
      for (let i = 0; i < 3; i++) reader.unsigned() // first_mb_in_slice, slice_type, pic_parameter_set_id
      if (hasColourPlanes) reader.bits(2)
      return reader.bits(frameNumBits) === 0
    } catch {
      return false
    }
  }

  /** The first sequence set that a picture set refers to. */
  #findActive(): Uint8Array | undefined {
    const parents = new Set(this.#store.list(nalType.pps).map(({ parentId }) => parentId))
    return this.#store.list(nalType.sps).find(({ id }) => parents.has(id))?.bytes
  }

  #list(kind: number): Uint8Array[] {
    return this.#store.list(kind).map(({ bytes }) => bytes)
  }
}

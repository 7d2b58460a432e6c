// The parameter sets of an H.264 stream, and the decoder configuration that is built from them.

import { AppError } from '../../base/error.ts'
import { BitReader } from '../nal/bit-reader.ts'
import type { ParameterSets, ParameterSetsFormat } from '../nal/nal-codec.ts'
import { listLengthPrefixedNalUnits } from '../nal/nal-units.ts'
import { ParameterSetStore } from '../nal/parameter-set-store.ts'
import { avcCodecString, writeAvcConfig } from './avc-config.ts'
import { nalType, nalTypeOf } from './nal-unit.ts'
import { parseSps } from './sps.ts'

/** The ids are at the start of a set, so this many bytes are enough to recognize it. */
const idBytes = 16
/** The frame number of a slice lies within its first bytes. */
const headBytes = 48
/** Limits of ISO/IEC 14496-10 7.4.2.1 and 7.4.2.2. */
const maxSpsId = 31
const maxPpsId = 255
/** The largest number of sequence parameter sets that a configuration record can hold. */
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
      throw new AppError('corrupt', `H.264: invalid parameter set id ${id}`)
    if (this.#store.has(kind, id, bytes, start, end)) return
    const parentId = kind === nalType.pps ? reader.unsigned() : -1
    this.#store.put({ kind, id, parentId }, bytes.subarray(start, end), kind === nalType.sps ? nalType.pps : undefined)
  }

  get isComplete(): boolean {
    return this.#findActive() !== undefined
  }

  takeChange(): ParameterSetsFormat | undefined {
    const active = this.#store.hasChanged ? this.#findActive() : undefined
    if (!active) return undefined
    const { width, height, order } = parseSps(active)
    const [sps, pps] = [this.#list(nalType.sps), this.#list(nalType.pps)]
    const all = [active, ...sps.filter((set) => set !== active)]
    const config = writeAvcConfig({ sps: all.slice(0, maxSpsInConfig), pps })
    this.#store.hasChanged = false
    return { format: { codec: 'h264', width, height, config, codecString: avcCodecString(active) }, order }
  }

  hasZeroFrameNumber(data: Uint8Array): boolean {
    const slice = listLengthPrefixedNalUnits(data).find((unit) => nalTypeOf(unit[0] ?? 0) === nalType.slice)
    const active = this.#findActive()
    if (!slice || !active) return false
    try {
      const { hasColorPlanes, frameNumBits } = parseSps(active).slices
      const reader = new BitReader(slice.subarray(1, headBytes))
      for (let i = 0; i < 3; i++) reader.unsigned() // first_mb_in_slice, slice_type, pic_parameter_set_id
      if (hasColorPlanes) reader.bits(2)
      return reader.bits(frameNumBits) === 0
    } catch {
      return false
    }
  }

  /** The first sequence parameter set that a picture parameter set refers to. */
  #findActive(): Uint8Array | undefined {
    const parents = new Set(this.#store.list(nalType.pps).map(({ parentId }) => parentId))
    return this.#store.list(nalType.sps).find(({ id }) => parents.has(id))?.bytes
  }

  #list(kind: number): Uint8Array[] {
    return this.#store.list(kind).map(({ bytes }) => bytes)
  }
}

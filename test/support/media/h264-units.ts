// Minimal H.264 NAL units and a depacketizer that records its output, for tests.

import { h264Codec } from '../../../server/media/h264/h264-codec.ts'
import { NalDepacketizer } from '../../../server/media/nal/nal-depacketizer.ts'
import { listLengthPrefixedNalUnits } from '../../../server/media/nal/nal-units.ts'

export const bytesOf = (hex: string) => Uint8Array.from(hex.match(/../g)!, (byte) => parseInt(byte, 16))
export const sps = bytesOf('6742c01eda0280bfe5c044000003000400000300c83c58ba80')
export const largeSps = bytesOf('6742c028da01e0089f97011000000300100000030320f1832a')
export const pps = bytesOf('68ce0fc8')

/** A slice NAL unit. With `isFirst`, it begins at macroblock 0. */
export function slice(type: number, bytes: number, isFirst = true): Uint8Array {
  const unit = new Uint8Array(Math.max(2, bytes)).fill(0x55)
  unit[0] = 0x60 | type
  unit[1] = isFirst ? 0x88 : 0x48
  return unit
}

export const key = (bytes = 20) => [sps, pps, slice(5, bytes)]
export const inter = (bytes = 20) => [slice(1, bytes)]

export type Seen = { isKey: boolean; timestamp: number; units: Uint8Array[] } | string

export function openDepacketizer() {
  const seen: Seen[] = []
  const depacketizer = new NalDepacketizer(h264Codec, {
    onFormat: ({ width, height, codecString }) => seen.push(`${width}x${height} ${codecString}`),
    onFrame: (data, timestamp, isKey) => seen.push({ isKey, timestamp, units: listLengthPrefixedNalUnits(data) }),
  })
  const send = (payloads: readonly Uint8Array[], timestamp: number, marked = [payloads.length - 1]) => {
    for (const [i, payload] of payloads.entries()) {
      depacketizer.push(payload, 0, payload.length, timestamp, marked.includes(i))
    }
  }
  return {
    seen,
    depacketizer,
    send,
    times: () => seen.map((item) => (typeof item === 'string' ? item : item.timestamp)),
  }
}

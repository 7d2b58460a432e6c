// The telephone audio codings that cameras send and browsers do not play: G.711 and G.726 (RFC 3551 4.5.14 and 4.5.4).
// Every sample has a fixed number of bits.

export type TelephoneCoding =
  | 'pcmu'
  | 'pcma'
  /** G.726 by its bit rate in kbit/s at 8 kHz, with the first sample in the lowest bits of a byte. */
  | 'g726-16'
  | 'g726-24'
  | 'g726-32'
  | 'g726-40'
  /** The same with the first sample in the highest bits. */
  | 'aal2-g726-16'
  | 'aal2-g726-24'
  | 'aal2-g726-32'
  | 'aal2-g726-40'

/** The order must not change: the index is sent to the audio process as the code of the coding. */
export const telephoneCodings: readonly TelephoneCoding[] = [
  'pcmu',
  'pcma',
  'g726-16',
  'g726-24',
  'g726-32',
  'g726-40',
  'aal2-g726-16',
  'aal2-g726-24',
  'aal2-g726-32',
  'aal2-g726-40',
]

/** Bits per sample: 8 for G.711, 2 to 5 for G.726. */
export function bitsPerSample(coding: TelephoneCoding): number {
  const kilobits = /-(\d+)$/.exec(coding)
  return kilobits ? Number(kilobits[1]) / 8 : 8
}

/** A byte of silence; for G.726, the smallest steps. */
export function silenceByte(coding: TelephoneCoding): number {
  return coding === 'pcmu' ? 0xff : coding === 'pcma' ? 0xd5 : 0
}

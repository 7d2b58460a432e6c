// Writes the program association table and the program map table of a stream with one program. ISO/IEC 13818-1 2.4.4.

import type { AudioCodec, AudioFormat } from '../frame.ts'
import type { AnnexBCodec } from './annex-b.ts'
import { crc32Mpeg2 } from './crc32.ts'

export const patPid = 0x0000
export const pmtPid = 0x1000
export const videoPid = 0x0100
export const audioPid = 0x0101

const videoStreamTypes: Readonly<Record<AnnexBCodec, number>> = { h264: 0x1b, h265: 0x24 }
/** ADTS, and the private type that is explained by the descriptors. */
const audioStreamTypes: Readonly<Record<AudioCodec, number>> = { aac: 0x0f, opus: 0x06 }
const programNumber = 1
const noDescriptors = [0xf0, 0x00]

/** Writes the section that states the PID of the program map. */
export function writePat(): Uint8Array {
  return writeSection(0x00, [...u16(programNumber), ...pid13(pmtPid)])
}

/** Writes the section that lists the elementary streams. The video stream carries the clock (PCR). */
export function writePmt({
  video,
  audio,
}: {
  readonly video: AnnexBCodec
  readonly audio: AudioFormat | undefined
}): Uint8Array {
  return writeSection(0x02, [
    ...pid13(videoPid),
    ...noDescriptors,
    ...[videoStreamTypes[video], ...pid13(videoPid), ...noDescriptors],
    ...(audio ? [audioStreamTypes[audio.codec], ...pid13(audioPid), ...audioDescriptors(audio)] : []),
  ])
}

/**
 * Registration descriptor "Opus", and the DVB extension descriptor with the channel configuration (ETSI TS 101 154,
 * "Opus in MPEG-TS" 4).
 */
function audioDescriptors({ codec, channels }: AudioFormat): number[] {
  if (codec === 'aac') return noDescriptors
  const registration = [0x05, 4, ...[...'Opus'].map((char) => char.charCodeAt(0))]
  const extension = [0x7f, 2, 0x80, channels]
  return [0xf0, registration.length + extension.length, ...registration, ...extension]
}

/** Version 0, current, the only section of its table. */
function writeSection(tableId: number, body: readonly number[]): Uint8Array {
  const length = 5 + body.length + 4
  const section = new Uint8Array(3 + length)
  section.set([tableId, 0xb0 | (length >>> 8), length & 0xff, ...u16(programNumber), 0xc1, 0, 0, ...body])
  new DataView(section.buffer).setUint32(section.length - 4, crc32Mpeg2(section.subarray(0, -4)))
  return section
}

const u16 = (value: number): number[] => [value >>> 8, value & 0xff]
const pid13 = (pid: number): number[] => [0xe0 | (pid >>> 8), pid & 0xff]

// Writes the frames of one run as an MPEG transport stream with one program: H.264 or H.265, and AAC or Opus. Each
// frame becomes whole packets. ISO/IEC 13818-1.

import { AppError } from '../../base/error.ts'
import type { AudioFormat, Frame, StreamFormat } from '../frame.ts'
import { writeAdtsHeader } from './adts.ts'
import { type AnnexBCodec, accessUnitAnnexB, parameterSetsAnnexB } from './annex-b.ts'
import { writeOpusControlHeader } from './opus-control.ts'
import { Packetizer } from './packetizer.ts'
import { audioStreamId, privateStreamId, videoStreamId, writePesHeader } from './pes.ts'
import { audioPid, patPid, pmtPid, videoPid, writePat, writePmt } from './psi.ts'

/** Presentation starts at this time, so that no timestamp or earlier clock value is negative. */
const origin90k = 90_000
/** The clock lags behind the decode times by this much, which gives receivers time to buffer a frame. */
const clockDelay90k = 18_000

const pointerField = Uint8Array.of(0)

export class TsWriter {
  readonly #codec: AnnexBCodec
  readonly #parameterSets: Uint8Array
  readonly #audioFormat: AudioFormat | undefined
  readonly #pat = new Packetizer(patPid)
  readonly #pmt = new Packetizer(pmtPid)
  readonly #video = new Packetizer(videoPid)
  readonly #audio = new Packetizer(audioPid)
  readonly #patSection = writePat()
  readonly #pmtSection: Uint8Array

  /**
   * Throws 'invalid' for mjpeg, which transport streams do not support, and 'corrupt' for a broken configuration
   * record.
   */
  constructor({ video, audio }: StreamFormat) {
    if (video.codec === 'mjpeg') throw new AppError('invalid', 'expected h264 or h265 for MPEG-TS, got mjpeg')
    this.#codec = video.codec
    this.#parameterSets = parameterSetsAnnexB(video.codec, video)
    this.#audioFormat = audio
    this.#pmtSection = writePmt({ video: video.codec, audio })
  }

  /**
   * Returns the packets of one frame, a multiple of 188 bytes. Packets of a key frame begin with the tables. Empty for
   * an audio frame when the format has no audio. Throws 'corrupt' or 'invalid' for a frame that violates its format.
   */
  writeFrame(frame: Frame): Uint8Array {
    if (frame.kind === 'audio') return this.#audioFormat ? this.#writeAudio(frame, this.#audioFormat) : new Uint8Array()
    const unit = accessUnitAnnexB(this.#codec, frame.data, frame.isKey ? this.#parameterSets : undefined)
    const dts90k = frame.dts90k + origin90k
    const pts90k = Math.max(frame.pts90k + origin90k, dts90k) // the standard does not allow an earlier time
    const header = writePesHeader(videoStreamId, { pts90k, dts90k }, 0)
    const packets = this.#video.packetize([header, ...unit], {
      pcr90k: dts90k - clockDelay90k,
      isRandomAccess: frame.isKey,
    })
    if (!frame.isKey) return packets
    const pat = this.#pat.packetize([pointerField, this.#patSection, stuffingAfter(this.#patSection)])
    const pmt = this.#pmt.packetize([pointerField, this.#pmtSection, stuffingAfter(this.#pmtSection)])
    const out = new Uint8Array(pat.length + pmt.length + packets.length)
    out.set(pat)
    out.set(pmt, pat.length)
    out.set(packets, pat.length + pmt.length)
    return out
  }

  #writeAudio({ data, pts90k }: Frame, { codec, config }: AudioFormat): Uint8Array {
    const isOpus = codec === 'opus'
    const head = isOpus ? writeOpusControlHeader(data.length) : writeAdtsHeader(config, data.length)
    const time90k = pts90k + origin90k
    const times = { pts90k: time90k, dts90k: time90k }
    const streamId = isOpus ? privateStreamId : audioStreamId
    return this.#audio.packetize([writePesHeader(streamId, times, head.length + data.length), head, data])
  }
}

/** Sections are padded with 0xff to the end of the packet. */
function stuffingAfter(section: Uint8Array): Uint8Array {
  return new Uint8Array(184 - 1 - section.length).fill(0xff)
}

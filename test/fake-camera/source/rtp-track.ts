// The RTP side of one track of a camera: its source id, counters and packets, framed for an RTSP connection (RFC 2326
// 10.12).
//
// Every client of a stream gets the same packets, so they are written once, for the channels a client usually asks for.

import { randomInt } from 'node:crypto'
import { rtpHeaderBytes, writeRtpHeader } from '../../../server/media/rtp/rtp-header.ts'
import { interleavedHeaderBytes, writeInterleavedHeader } from '../../../server/media/rtsp/interleaved.ts'
import { writeSenderReport } from './sender-report.ts'

/** Where a track stands: the sequence number and the timestamp of its next packet. */
export type RtpPosition = { readonly sequence: number; readonly timestamp: number }

const headBytes = interleavedHeaderBytes + rtpHeaderBytes

export class RtpTrack {
  readonly clockRate: number
  readonly payloadType: number
  #ssrc = randomInt(2 ** 32)
  /** The channel the packets are framed for; the RTCP channel is the next. */
  readonly channel: number
  /** A random start, so that nothing relies on 0 and wraps are met. */
  #timestampStart = randomInt(2 ** 32)
  #sequence = randomInt(2 ** 16)
  #packetCount = 0
  #payloadBytes = 0

  constructor(options: { clockRate: number; payloadType: number; channel: number }) {
    this.clockRate = options.clockRate
    this.payloadType = options.payloadType
    this.channel = options.channel
  }

  /** The 32-bit timestamp of a moment of the stream, in seconds since it began. */
  timestampAt(seconds: number): number {
    return (this.#timestampStart + Math.round(seconds * this.clockRate)) >>> 0
  }

  get ssrc(): number {
    return this.#ssrc
  }

  get sequence(): number {
    return this.#sequence
  }

  /**
   * As after a restart of the camera's encoder: another source, other numbers. The timestamps wrap `wrapSeconds` after `seconds`, which is
   * the present on the axis of `timestampAt`; the sequence numbers at about the same time.
   */
  restart(seconds: number, wrapSeconds: number): void {
    this.#ssrc = randomInt(2 ** 32)
    this.#timestampStart = -Math.round((seconds + wrapSeconds) * this.clockRate) >>> 0
    this.#sequence = (0x10000 - Math.round(wrapSeconds * 30)) & 0xffff
  }

  /** The packets of one access unit or block, one after the other; the last has the marker. */
  writePackets(payloads: readonly Uint8Array[], timestamp: number): Uint8Array {
    const bytes = new Uint8Array(payloads.reduce((sum, payload) => sum + headBytes + payload.length, 0))
    let at = 0
    for (const [index, payload] of payloads.entries()) {
      writeInterleavedHeader(bytes, at, this.channel, rtpHeaderBytes + payload.length)
      writeRtpHeader(bytes, at + interleavedHeaderBytes, {
        payloadType: this.payloadType,
        isMarked: index === payloads.length - 1,
        sequence: (this.#sequence + index) & 0xffff,
        timestamp,
        ssrc: this.ssrc,
      })
      bytes.set(payload, at + headBytes)
      at += headBytes + payload.length
    }
    this.#count(payloads.length, bytes.length - payloads.length * headBytes)
    return bytes
  }

  /**
   * Gives packets written earlier (of another track, too) this track's next numbers; `starts` = where each packet
   * begins.
   */
  renumberPackets(bytes: Uint8Array, starts: readonly number[], timestamp: number): void {
    for (const [index, start] of starts.entries()) {
      const sequence = (this.#sequence + index) & 0xffff
      const at = start + interleavedHeaderBytes
      bytes[at + 2] = sequence >> 8
      bytes[at + 3] = sequence
      writeUint32(bytes, at + 4, timestamp)
      writeUint32(bytes, at + 8, this.ssrc)
    }
    this.#count(starts.length, bytes.length - starts.length * headBytes)
  }

  /** A framed RTCP packet that says which wall clock a timestamp stands for. */
  writeReport(unixMs: number, timestamp: number): Uint8Array {
    return writeSenderReport({
      channel: this.channel + 1,
      ssrc: this.ssrc,
      unixMs,
      timestamp,
      packetCount: this.#packetCount,
      payloadBytes: this.#payloadBytes,
    })
  }

  #count(packets: number, payloadBytes: number): void {
    this.#sequence = (this.#sequence + packets) & 0xffff
    this.#packetCount += packets
    this.#payloadBytes += payloadBytes
  }
}

function writeUint32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24
  bytes[at + 1] = value >>> 16
  bytes[at + 2] = value >>> 8
  bytes[at + 3] = value
}

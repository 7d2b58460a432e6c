// Receives one RTP stream: accepts packets of the expected type, detects losses and makes timestamps continuous. It
// allocates no memory per packet.

import { SequenceTracker, TimestampUnwrapper } from '../../media/rtp/rtp-counters.ts'
import { createRtpHeader, readRtpHeader } from '../../media/rtp/rtp-header.ts'
import type { CameraStats } from './camera-stats.ts'

/**
 * After this many consecutive packets from another source, that source is the stream. Fewer packets come from a camera
 * that mixes in an old session.
 */
const newSourcePackets = 4

export class RtpReceiver {
  /** Header of the last accepted packet. */
  readonly header = createRtpHeader()
  /** Timestamp of that packet, continuous across wraps. */
  timestamp = 0
  /** True if packets are missing before that packet. */
  isAfterLoss = false
  packets = 0
  lostPackets = 0
  readonly #payloadType: number
  readonly #stats: CameraStats
  readonly #unwrapper = new TimestampUnwrapper()
  #tracker = new SequenceTracker()
  #ssrc: number | undefined
  #otherSsrc = 0
  #otherPackets = 0

  constructor(payloadType: number, stats: CameraStats) {
    this.#payloadType = payloadType
    this.#stats = stats
  }

  /** The source of the accepted packets. */
  get ssrc(): number | undefined {
    return this.#ssrc
  }

  /**
   * The values of a receiver report: how many packets of this source were expected, and the highest sequence number.
   */
  get expected(): number {
    return this.#tracker.expected
  }

  get highestSequence(): number {
    return this.#tracker.highest
  }

  /** Reads the packet `bytes[start, end)`. Returns false if it contains nothing to use. */
  take(bytes: Uint8Array, start: number, end: number): boolean {
    const { header } = this
    if (!readRtpHeader(bytes, start, end, header)) {
      this.#stats.badPackets++
      return false
    }
    if (header.payloadType !== this.#payloadType) return false
    const isOtherSource = header.ssrc !== this.#ssrc && this.#ssrc !== undefined
    if (isOtherSource && !this.#isNewSource(header.ssrc)) return false
    this.#ssrc = header.ssrc
    this.#otherPackets = 0
    const lost = this.#tracker.advance(header.sequence)
    if (lost < 0) return false
    this.packets++
    this.#stats.packets++
    this.lostPackets += lost
    this.#stats.lostPackets += lost
    this.isAfterLoss = lost > 0 || isOtherSource
    this.timestamp = this.#unwrapper.unwrap(header.timestamp)
    return true
  }

  /** Converts a raw timestamp from elsewhere (RTP-Info, a sender report) to the axis of `timestamp`. */
  toContinuous(timestamp: number): number {
    return this.timestamp + ((timestamp - this.timestamp) | 0)
  }

  #isNewSource(ssrc: number): boolean {
    this.#otherPackets = ssrc === this.#otherSsrc ? this.#otherPackets + 1 : 1
    this.#otherSsrc = ssrc
    if (this.#otherPackets < newSourcePackets) {
      this.#stats.foreignPackets++
      return false
    }
    this.#tracker = new SequenceTracker()
    this.packets = 0
    this.lostPackets = 0
    return true
  }
}

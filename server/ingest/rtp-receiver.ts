// One RTP stream as it arrives: packets of the expected type, losses noticed, timestamps continuous. Allocates nothing per packet.

import { SequenceTracker, TimestampUnwrapper } from '../media/rtp/rtp-counters.ts'
import { createRtpHeader, readRtpHeader } from '../media/rtp/rtp-header.ts'
import type { CameraStats } from './camera-stats.ts'

export class RtpReceiver {
  /** Of the packet last taken. */
  readonly header = createRtpHeader()
  /** Its timestamp, continuous over wraps. */
  timestamp = 0
  /** True when packets are missing before it. */
  isAfterLoss = false
  lostPackets = 0
  readonly #payloadType: number
  readonly #stats: CameraStats
  #tracker = new SequenceTracker()
  readonly #unwrapper = new TimestampUnwrapper()
  #ssrc: number | undefined

  constructor(payloadType: number, stats: CameraStats) {
    this.#payloadType = payloadType
    this.#stats = stats
  }

  get ssrc(): number | undefined {
    return this.#ssrc
  }

  /** Reads the packet `bytes[start, end)`; false when there is nothing in it to use. */
  take(bytes: Uint8Array, start: number, end: number): boolean {
    const { header } = this
    if (!readRtpHeader(bytes, start, end, header)) {
      this.#stats.badPackets++
      return false
    }
    if (header.payloadType !== this.#payloadType) return false
    const isOtherSource = header.ssrc !== this.#ssrc && this.#ssrc !== undefined
    if (isOtherSource) this.#tracker = new SequenceTracker()
    this.#ssrc = header.ssrc
    const lost = this.#tracker.advance(header.sequence)
    if (lost < 0) return false
    this.#stats.packets++
    this.lostPackets += lost
    this.#stats.lostPackets += lost
    this.isAfterLoss = lost > 0 || isOtherSource
    this.timestamp = this.#unwrapper.unwrap(header.timestamp)
    return true
  }

  /** A raw timestamp told elsewhere (RTP-Info), on the axis of `timestamp`. */
  toContinuous(timestamp: number): number {
    return this.timestamp + ((timestamp - this.timestamp) | 0)
  }
}

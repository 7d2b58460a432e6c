// The RTCP of one track: reads sender reports and writes receiver reports (RFC 3550 6.4).

import { writeReceiverReport } from '../../media/rtp/receiver-report.ts'
import { readRtcp, type SenderReport } from '../../media/rtp/rtcp.ts'
import type { RtpReceiver } from '../frames/rtp-receiver.ts'

export class TrackReports {
  /** The newest report of the current sender. */
  sender: SenderReport | undefined
  /** The number of received packets when the sender announced its end; undefined before that. */
  endedAtPackets: number | undefined
  readonly #receiver: RtpReceiver
  readonly #ownSsrc: number
  readonly #nowMs: () => number
  #senderMs = 0
  #taken: SenderReport | undefined
  #expected = 0
  #received = 0

  /** `nowMs`: monotonic. */
  constructor(receiver: RtpReceiver, ownSsrc: number, nowMs: () => number) {
    this.#receiver = receiver
    this.#ownSsrc = ownSsrc
    this.#nowMs = nowMs
  }

  /** Returns the newest sender report unless it was already returned. */
  takeSender(): SenderReport | undefined {
    const isNew = this.#taken !== this.sender
    this.#taken = this.sender
    return isNew ? this.sender : undefined
  }

  take(bytes: Uint8Array, start: number, end: number): void {
    readRtcp(bytes, start, end, {
      onSenderReport: (report) => {
        if (report.ssrc !== this.#receiver.ssrc) return
        // The sender has no wall clock (RFC 3550 6.4.1), so its report relates nothing to other tracks.
        if (report.ntpSeconds === 0) return
        this.sender = report
        this.#senderMs = this.#nowMs()
      },
      onBye: (ssrc) => {
        if (ssrc === this.#receiver.ssrc) this.endedAtPackets = this.#receiver.packets
      },
    })
  }

  /** Writes a report on the time since the previous one. Returns undefined while no packet has arrived. */
  write(): Uint8Array | undefined {
    const { ssrc, packets, expected, lostPackets, highestSequence } = this.#receiver
    if (ssrc === undefined) return undefined
    const due = expected - this.#expected
    const missing = due - (packets - this.#received)
    this.#expected = expected
    this.#received = packets
    const { sender } = this
    return writeReceiverReport({
      ownSsrc: this.#ownSsrc,
      senderSsrc: ssrc,
      fractionLost: due > 0 ? Math.max(0, missing / due) : 0,
      lostPackets,
      highestSequence,
      lastReport: sender && { ntpMiddle: middleOf(sender), agoMs: this.#nowMs() - this.#senderMs },
    })
  }
}

function middleOf({ ntpSeconds, ntpFraction }: SenderReport): number {
  return ((ntpSeconds << 16) | (ntpFraction >>> 16)) >>> 0
}

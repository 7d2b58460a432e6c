// The RTCP of one track: what the sender reports, and the reports we answer with (RFC 3550 6.4).

import { writeReceiverReport } from '../../media/rtp/receiver-report.ts'
import { readRtcp, type SenderReport } from '../../media/rtp/rtcp.ts'
import type { RtpReceiver } from '../frames/rtp-receiver.ts'

export class TrackReports {
  /** The newest of the sender we listen to. */
  sender: SenderReport | undefined
  /** Packets taken when the sender said that it ends; undefined before that. */
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

  /** The newest, when it has not been taken yet. */
  takeSender(): SenderReport | undefined {
    const isNew = this.#taken !== this.sender
    this.#taken = this.sender
    return isNew ? this.sender : undefined
  }

  take(bytes: Uint8Array, start: number, end: number): void {
    readRtcp(bytes, start, end, {
      onSenderReport: (report) => {
        if (report.ssrc !== this.#receiver.ssrc) return
        this.sender = report
        this.#senderMs = this.#nowMs()
      },
      onBye: (ssrc) => {
        if (ssrc === this.#receiver.ssrc) this.endedAtPackets = this.#receiver.packets
      },
    })
  }

  /** Of the time since the last one; undefined while nothing has come. */
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

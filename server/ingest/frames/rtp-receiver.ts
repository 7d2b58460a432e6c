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

/** Ten seconds of video: timestamps that are closer belong to the same clock. An old session has another offset. */
const maxStep = 900_000
const none: readonly Uint8Array[] = []

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
  /** The last packets in a row of one other source, which are used if it becomes the stream. */
  #held: Uint8Array[] = []
  #otherSsrc = 0
  /** The other source that is about to become the stream. */
  #confirmed: number | undefined
  #isNewSource = false
  #wasMarked = false

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

  /**
   * Reads the packet `bytes[start, end)`. Returns false if it contains nothing to use, or nothing yet; see `takeHeld`.
   */
  take(bytes: Uint8Array, start: number, end: number): boolean {
    const { header } = this
    if (!readRtpHeader(bytes, start, end, header)) {
      this.#stats.badPackets++
      return false
    }
    if (header.payloadType !== this.#payloadType) return false
    const step = (header.timestamp - this.timestamp) | 0
    const isNear = Math.abs(step) <= maxStep
    if (header.ssrc !== this.#ssrc && this.#ssrc !== undefined) {
      // Some cameras change the source with each key frame, and go on with sequence and time.
      if (this.#confirmed === header.ssrc) this.#beginSource()
      else if (!isNear || !this.#tracker.isNext(header.sequence)) {
        this.#hold(bytes, start, end)
        return false
      }
    }
    let lost = this.#tracker.advance(header.sequence)
    let isCut = this.#isNewSource
    if (lost < 0) {
      // No old packet has a new time, so the sender has stepped back. Networks that deliver in another order are dealt
      // with before (RtpReorderer).
      if (step <= 0 || !isNear) return false
      this.#tracker.stepBack(header.sequence)
      lost = 0
      isCut = true
    }
    if (isCut && !this.#isNewSource) this.#stats.deviations.add('sequence_steps')
    if (header.ssrc !== this.#ssrc && this.#ssrc !== undefined) this.#stats.deviations.add('source_changes')
    this.#ssrc = header.ssrc
    this.#isNewSource = false
    this.#confirmed = undefined
    if (this.#held.length > 0) this.#held = []
    this.packets++
    this.#stats.packets++
    this.lostPackets += lost
    this.#stats.lostPackets += lost
    // A new sequence that begins with a new frame of the same clock has lost nothing that is known.
    this.isAfterLoss = lost > 0 || (isCut && !(this.#wasMarked && isNear && step !== 0))
    this.#wasMarked = header.isMarked
    this.timestamp = this.#unwrapper.unwrap(header.timestamp)
    return true
  }

  /**
   * Returns the packets of another source once it has become the stream, and otherwise nothing. They are copies and
   * must be taken before any other.
   */
  takeHeld(): readonly Uint8Array[] {
    if (this.#confirmed === undefined) return none
    const held = this.#held
    this.#held = []
    this.#stats.foreignPackets -= newSourcePackets - 1
    return held
  }

  /** Converts a raw timestamp from elsewhere (RTP-Info, a sender report) to the axis of `timestamp`. */
  toContinuous(timestamp: number): number {
    return this.timestamp + ((timestamp - this.timestamp) | 0)
  }

  #hold(bytes: Uint8Array, start: number, end: number): void {
    const { ssrc } = this.header
    if (ssrc !== this.#otherSsrc) this.#held = []
    this.#otherSsrc = ssrc
    this.#held.push(bytes.slice(start, end))
    if (this.#held.length >= newSourcePackets) this.#confirmed = ssrc
    else this.#stats.foreignPackets++
  }

  #beginSource(): void {
    this.#tracker = new SequenceTracker()
    this.packets = 0
    this.lostPackets = 0
    this.#isNewSource = true
  }
}

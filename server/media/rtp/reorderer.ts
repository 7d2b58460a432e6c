// Puts the packets of one RTP stream back in order when the network does not preserve it (RFC 3550 5.1). A missing
// packet is given up after a number of later packets or a time; the gap then shows in the sequence numbers.
//
// Losses and sources are counted by the receiver of the packets.

export type RtpReordererOptions = {
  /** Called with packets in order, as far as possible. The packet is the pushed one, never a copy. */
  onPacket(packet: Uint8Array): void
  /** Maximum number of packets held while one is missing. */
  readonly maxPackets?: number
  /** Maximum time to wait for a missing packet. */
  readonly maxMs?: number
}

type Held = { readonly packet: Uint8Array; readonly atMs: number }

/** A sequence number further away is not reordering: the sender has started a new sequence. */
const maxJump = 1000

export class RtpReorderer {
  /** Duplicates, and packets that arrived after they had been given up. */
  latePackets = 0
  readonly #onPacket: (packet: Uint8Array) => void
  readonly #maxPackets: number
  readonly #maxMs: number
  /** By sequence number, in the order of arrival. */
  readonly #held = new Map<number, Held>()
  #next: number | undefined
  /** A packet far out of sequence, which is accepted when another one follows it. */
  #outlier: Uint8Array | undefined

  constructor({ onPacket, maxPackets = 128, maxMs = 150 }: RtpReordererOptions) {
    this.#onPacket = onPacket
    this.#maxPackets = maxPackets
    this.#maxMs = maxMs
  }

  /**
   * Takes a packet that may be kept, so it must not be overwritten. Packets that are too short for a sequence number
   * are delivered at once.
   */
  push(packet: Uint8Array, nowMs: number): void {
    if (packet.length < 4) {
      this.#onPacket(packet)
      return
    }
    const sequence = sequenceOf(packet)
    this.#next ??= sequence
    const ahead = (sequence - this.#next) & 0xffff
    if (ahead === 0) this.#take(packet, sequence)
    else if (ahead < maxJump) this.#hold(packet, sequence, nowMs)
    else if (ahead > 0xffff - maxJump) this.latePackets++
    else this.#takeOutlier(packet, sequence)
    this.expire(nowMs)
  }

  /** Gives up packets that have been missing for too long. */
  expire(nowMs: number): void {
    for (;;) {
      const oldest = this.#held.values().next().value
      if (!oldest || (this.#held.size <= this.#maxPackets && nowMs - oldest.atMs < this.#maxMs)) return
      this.#skip()
    }
  }

  #take(packet: Uint8Array, sequence: number): void {
    this.#outlier = undefined
    this.#onPacket(packet)
    this.#next = (sequence + 1) & 0xffff
    this.#release()
  }

  #hold(packet: Uint8Array, sequence: number, nowMs: number): void {
    this.#outlier = undefined
    if (this.#held.has(sequence)) this.latePackets++
    else this.#held.set(sequence, { packet, atMs: nowMs })
  }

  #takeOutlier(packet: Uint8Array, sequence: number): void {
    const before = this.#outlier
    this.#outlier = packet
    if (!before || sequence !== ((sequenceOf(before) + 1) & 0xffff)) return
    while (this.#held.size > 0) this.#skip()
    this.#onPacket(before)
    this.#take(packet, sequence)
  }

  /** Continues at the next packet that is present. */
  #skip(): void {
    while (!this.#held.has(this.#next!)) this.#next = (this.#next! + 1) & 0xffff
    this.#release()
  }

  #release(): void {
    for (;;) {
      const held = this.#held.get(this.#next!)
      if (!held) return
      this.#held.delete(this.#next!)
      this.#next = (this.#next! + 1) & 0xffff
      this.#onPacket(held.packet)
    }
  }
}

function sequenceOf(packet: Uint8Array): number {
  return (packet[2]! << 8) | packet[3]!
}

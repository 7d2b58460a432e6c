// Puts the packets of one RTP stream in order that came over a network which does not keep it (RFC 3550 5.1). Waits for a missing
// packet until so many or so much time has passed behind it; then it is lost, and the next one shows the gap.
//
// Knows nothing of losses and sources: those are counted where the packets go.

export type RtpReordererOptions = {
  /** A packet in order, or as near to it as is possible; the one pushed, never a copy. */
  onPacket(packet: Uint8Array): void
  /** Packets held at most while one is missing. */
  readonly maxPackets?: number
  /** How long one is waited for. */
  readonly maxMs?: number
}

type Held = { readonly packet: Uint8Array; readonly atMs: number }

/** Further away than this is no reordering: the sender has begun another count. */
const maxJump = 1000

export class RtpReorderer {
  /** Packets that came again, or after they had been given up. */
  latePackets = 0
  readonly #onPacket: (packet: Uint8Array) => void
  readonly #maxPackets: number
  readonly #maxMs: number
  /** By sequence number, in the order they came. */
  readonly #held = new Map<number, Held>()
  #next: number | undefined
  /** A packet from far away is believed when another follows it. */
  #strange: Uint8Array | undefined

  constructor({ onPacket, maxPackets = 128, maxMs = 150 }: RtpReordererOptions) {
    this.#onPacket = onPacket
    this.#maxPackets = maxPackets
    this.#maxMs = maxMs
  }

  /** Takes a packet that may be kept: it must not be overwritten. Shorter than its sequence number, it is passed on at once. */
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
    else this.#takeStrange(packet, sequence)
    this.expire(nowMs)
  }

  /** Gives up what has been waited for long enough. */
  expire(nowMs: number): void {
    for (;;) {
      const oldest = this.#held.values().next().value
      if (!oldest || (this.#held.size <= this.#maxPackets && nowMs - oldest.atMs < this.#maxMs)) return
      this.#skip()
    }
  }

  #take(packet: Uint8Array, sequence: number): void {
    this.#strange = undefined
    this.#onPacket(packet)
    this.#next = (sequence + 1) & 0xffff
    this.#release()
  }

  #hold(packet: Uint8Array, sequence: number, nowMs: number): void {
    this.#strange = undefined
    if (this.#held.has(sequence)) this.latePackets++
    else this.#held.set(sequence, { packet, atMs: nowMs })
  }

  #takeStrange(packet: Uint8Array, sequence: number): void {
    const before = this.#strange
    this.#strange = packet
    if (!before || sequence !== ((sequenceOf(before) + 1) & 0xffff)) return
    while (this.#held.size > 0) this.#skip()
    this.#onPacket(before)
    this.#take(packet, sequence)
  }

  /** Goes on at the first packet that is there. */
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

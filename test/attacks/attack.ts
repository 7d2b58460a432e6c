// One attack: the bytes that are sent on a connection of its own, and by whom.

export const attackKinds = ['description', 'http1', 'http2', 'multipart', 'tokens', 'cookies'] as const

export type AttackKind = (typeof attackKinds)[number]

/**
 * An account that the sender may act as, so that responses may contain what it can see. A sender without one is a
 * stranger.
 */
export type AccountName = 'olive' | 'vera' | 'victor' | 'gus' | 'stan'

export type Attack = {
  readonly kind: AttackKind
  /** Describes the defect, for reports. */
  readonly what: string
  readonly protocol: 'http/1.1' | 'h2'
  readonly writes: readonly Buffer[]
  readonly callers: readonly AccountName[]
  /**
   * What happens after everything is written: the sender waits for the response (to the first stream of HTTP/2; the
   * server closes a connection of HTTP/1.1), ends its side and reads what comes, which may be nothing, keeps listening
   * for a while, or disconnects at once without a TLS close.
   */
  readonly ending: 'wait' | 'read' | 'listen' | 'vanish'
  /** No response may be a success, because the credentials are invalid. */
  readonly mustFail?: boolean
}

/** Makes random choices that are the same for the same seed. */
export class Dice {
  readonly random: () => number

  /** `random` is uniform in [0, 1). */
  constructor(random: () => number) {
    this.random = random
  }

  /** Returns an integer from 0 to `count` - 1. */
  below(count: number): number {
    return Math.floor(this.random() * count)
  }

  isOneIn(count: number): boolean {
    return this.below(count) === 0
  }

  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)]!
  }

  /** Returns random bytes. */
  bytes(length: number): Buffer {
    return Buffer.from(Uint8Array.from({ length }, () => this.below(256)))
  }

  /** Splits the bytes into up to `most` chunks, as a network may deliver them. */
  split(bytes: Buffer, most: number): Buffer[] {
    const cuts = Array.from({ length: this.below(most) }, () => this.below(bytes.length + 1)).sort((a, b) => a - b)
    return [0, ...cuts]
      .map((from, i) => bytes.subarray(from, cuts[i] ?? bytes.length))
      .filter(({ length }) => length > 0)
  }
}

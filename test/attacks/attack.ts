// One attack: what is sent on a connection of its own, byte by byte, and by whom.

export const attackKinds = ['description', 'http1', 'http2', 'multipart', 'tokens', 'cookies'] as const

export type AttackKind = (typeof attackKinds)[number]

/** Whom somebody who sends it is, at most: answers may tell what they all may see. Nobody: a stranger without an account. */
export type AccountName = 'olive' | 'vera' | 'victor' | 'gus' | 'stan'

export type Attack = {
  readonly kind: AttackKind
  /** For reports: what is wrong with it. */
  readonly what: string
  readonly protocol: 'http/1.1' | 'h2'
  readonly writes: readonly Buffer[]
  readonly callers: readonly AccountName[]
  /**
   * How it ends when all is written: the sender has nothing more to say and reads what comes; goes on listening for a while; or is
   * gone at once, without a goodbye.
   */
  readonly ending: 'read' | 'listen' | 'vanish'
  /** No answer to it is a success: its credentials are nobody's. */
  readonly mustFail?: boolean
}

/** What makes choices: the same ones for the same seed. */
export class Dice {
  readonly random: () => number

  /** `random`: uniform in [0, 1). */
  constructor(random: () => number) {
    this.random = random
  }

  /** An integer from 0 to `count` - 1. */
  below(count: number): number {
    return Math.floor(this.random() * count)
  }

  isOneIn(count: number): boolean {
    return this.below(count) === 0
  }

  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)]!
  }

  /** Bytes of any value. */
  bytes(length: number): Buffer {
    return Buffer.from(Uint8Array.from({ length }, () => this.below(256)))
  }

  /** In up to `most` chunks, as a network may deliver them. */
  split(bytes: Buffer, most: number): Buffer[] {
    const cuts = Array.from({ length: this.below(most) }, () => this.below(bytes.length + 1)).sort((a, b) => a - b)
    return [0, ...cuts]
      .map((from, i) => bytes.subarray(from, cuts[i] ?? bytes.length))
      .filter(({ length }) => length > 0)
  }
}

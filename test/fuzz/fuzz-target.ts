// One parser as the fuzzer knows it.

import type fc from 'fast-check'

/** What an input led to, in a few words without its values: inputs with a new one are kept and changed further. */
export type Outcome = string

export type FuzzTarget = {
  readonly name: string
  /** Inputs that are right, or nearly: where changing begins. */
  seeds(): Uint8Array[]
  /** Others like them. */
  readonly generated?: fc.Arbitrary<Uint8Array>
  /** Words of the format, put in anywhere. */
  readonly words?: readonly string[]
  /**
   * Gives the input to the parser. `random` is uniform in [0, 1), for where to cut and the like.
   * @throws whatever the parser must not do: an error that is not its own, a broken promise about what it gives
   */
  run(input: Uint8Array, random: () => number): Outcome | Promise<Outcome>
}

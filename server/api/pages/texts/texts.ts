// What the pages say, in one language: a second one is another file with the same shape as english.ts.

import type { english } from './english.ts'

export type Texts = Widen<typeof english>

/** The same keys, any words. */
type Widen<T> = T extends string
  ? string
  : T extends (...values: infer Values) => infer Result
    ? (...values: Values) => Widen<Result>
    : { readonly [Key in keyof T]: Widen<T[Key]> }

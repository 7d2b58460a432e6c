// What the pages say, in one language: english.ts gives the shape, each other language is a file of it, and languages.ts chooses.

import type { english } from './english.ts'

export type Texts = Widen<typeof english>

/** The same keys, any words. */
type Widen<T> = T extends string
  ? string
  : T extends (...values: infer Values) => infer Result
    ? (...values: Values) => Widen<Result>
    : { readonly [Key in keyof T]: Widen<T[Key]> }

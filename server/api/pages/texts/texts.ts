// The texts of the pages in one language. english.ts defines the structure, each language has its own file, and
// languages.ts chooses one.

import type { english } from './english.ts'

export type Texts = Widen<typeof english>

/** The same keys with any text. */
type Widen<T> = T extends string
  ? string
  : T extends (...values: infer Values) => infer Result
    ? (...values: Values) => Widen<Result>
    : { readonly [Key in keyof T]: Widen<T[Key]> }

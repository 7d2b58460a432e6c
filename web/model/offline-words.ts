// Why a camera gives no picture, in the language of the page. The server's sentences are in English and know more than a word for
// programs can; other languages have sentences of their own for each word, with the server's behind where the word says nothing.

import { type Told, tell } from './told.ts'

export type Trouble = {
  /** As the interface has it, for programs. */
  readonly code: string | null
  /** The server's, in English. */
  readonly sentence: string | null
}

export type TroubleTexts = {
  /** What is wrong, in short, by code. */
  readonly problems: Readonly<Record<string, string>> & { readonly failed: string }
  /** What is wrong and what to try, by code; empty in English. */
  readonly advice: Readonly<Record<string, string>>
}

/** What tells nothing by itself, and what only a newer server knows, counts as this. */
const anyFault = 'failed'

/** A few words, for where there is little room; undefined when nothing is known. */
export function findShortWords({ code, sentence }: Trouble, { problems, advice }: TroubleTexts): string | undefined {
  if (code === null && !sentence) return undefined
  const known = code === anyFault ? undefined : problems[code ?? '']
  return known ?? (advice[anyFault] === undefined && sentence ? sentence : problems.failed)
}

/** Whole sentences; undefined when nothing is known. */
export function findWords({ code, sentence }: Trouble, { advice }: TroubleTexts): Told | undefined {
  if (code === null && !sentence) return undefined
  const known = code === anyFault ? undefined : advice[code ?? '']
  return known === undefined ? tell(advice[anyFault], sentence) : { text: known }
}

export function troubleOf(camera: {
  readonly status_code: string | null
  readonly status_reason: string | null
}): Trouble {
  return { code: camera.status_code, sentence: camera.status_reason }
}

// Why a camera gives no picture, in the language of the page. The server's sentences are in English and know more than a word for
// programs can; other languages have sentences of their own for each word, and the server's only where there is none.

export type Trouble = {
  /** As the interface has it, for programs. */
  readonly code: string | null
  /** The server's, in English. */
  readonly sentence: string | null
}

export type TroubleTexts = {
  /** What is wrong, in short, by code. */
  readonly problems: Readonly<Record<string, string>>
  /** What is wrong and what to try, by code; empty in English. */
  readonly advice: Readonly<Record<string, string>>
}

/** A few words, for where there is little room; undefined when nothing is known. */
export function findShortWords({ code, sentence }: Trouble, { problems }: TroubleTexts): string | undefined {
  return (code === 'failed' ? undefined : problems[code ?? '']) ?? sentence ?? undefined
}

/** Whole sentences; undefined when nothing is known. */
export function findWords({ code, sentence }: Trouble, { advice }: TroubleTexts): string | undefined {
  return advice[code ?? ''] ?? sentence ?? undefined
}

export function troubleOf(camera: {
  readonly status_code: string | null
  readonly status_reason: string | null
}): Trouble {
  return { code: camera.status_code, sentence: camera.status_reason }
}

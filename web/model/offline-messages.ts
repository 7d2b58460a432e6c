// Explains in the language of the page why a camera has no video. The server explains it in English, in more detail
// than an error code can. For other languages there is one text per code; where the code is too general, the server's
// text is appended.

import { createErrorMessage, type ErrorMessage } from './error-message.ts'

export type OfflineError = {
  /** Error code from the API. */
  readonly code: string | null
  /** The server's explanation, in English. */
  readonly sentence: string | null
}

export type OfflineErrorTexts = {
  /** Short labels by error code. */
  readonly problems: Readonly<Record<string, string>> & { readonly failed: string }
  /** Explanations with advice, by error code; empty in English. */
  readonly advice: Readonly<Record<string, string>>
}

/** Used for codes that are too general or that only a newer server knows. */
const anyFault = 'failed'

/** A short label for narrow places; undefined when nothing is known. */
export function findShortMessage(
  { code, sentence }: OfflineError,
  { problems, advice }: OfflineErrorTexts,
): string | undefined {
  if (code === null && !sentence) return undefined
  const known = code === anyFault ? undefined : problems[code ?? '']
  return known ?? (advice[anyFault] === undefined && sentence ? sentence : problems.failed)
}

/** Full sentences; undefined when nothing is known. */
export function findMessage({ code, sentence }: OfflineError, { advice }: OfflineErrorTexts): ErrorMessage | undefined {
  if (code === null && !sentence) return undefined
  const known = code === anyFault ? undefined : advice[code ?? '']
  return known === undefined ? createErrorMessage(advice[anyFault], sentence) : { text: known }
}

export function offlineErrorOf(camera: {
  readonly status_code: string | null
  readonly status_reason: string | null
}): OfflineError {
  return { code: camera.status_code, sentence: camera.status_reason }
}

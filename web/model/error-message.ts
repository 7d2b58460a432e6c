// Chooses the texts to show for an error. The server's texts are in English: they are shown alone on an English page,
// and otherwise follow a text in the language of the page as additional detail.

export type ErrorMessage = {
  readonly text: string
  /** The server's text. */
  readonly said?: string
}

/** `own`: the page's text; undefined if the server's is enough. Returns undefined if there is neither. */
export function createErrorMessage(
  own: string | undefined,
  sentence: string | null | undefined,
): ErrorMessage | undefined {
  const said = sentence || undefined
  if (own === undefined) return said === undefined ? undefined : { text: said }
  return { text: own, ...(said !== undefined && { said }) }
}

// What the page tells of a fault. Sentences of the server are in English: they stand behind words in the language of the page, as
// what is known besides, or for themselves where the page is in English.

export type Told = {
  readonly text: string
  /** The server's own sentence. */
  readonly said?: string
}

/** `own`: the page's words; undefined where the server's do. Undefined when there are neither. */
export function tell(own: string | undefined, sentence: string | null | undefined): Told | undefined {
  const said = sentence || undefined
  if (own === undefined) return said === undefined ? undefined : { text: said }
  return { text: own, ...(said !== undefined && { said }) }
}

// Where a request came from, for whoever counts, records or shows it.

export type RequestContext = {
  readonly ip: string
  readonly userAgent: string | undefined
}

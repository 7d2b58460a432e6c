// The origin of a request, for counting, auditing and display.

export type RequestContext = {
  readonly ip: string
  readonly userAgent: string | undefined
}

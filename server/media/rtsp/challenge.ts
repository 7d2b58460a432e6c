// Parses and writes the values of WWW-Authenticate and Authorization as scheme and parameters (RFC 7235 2.1). Responses
// to challenges are computed elsewhere.

export type AuthParameters = {
  /** Lower case: `basic`, `digest`. */
  readonly scheme: string
  /** Names in lower case; values without quotes. */
  readonly parameters: ReadonlyMap<string, string>
}

/** Longer than any real header. The rest is ignored, so that long input cannot keep the server busy. */
const maxLength = 4096

/**
 * Parses one challenge or one credential. A server that offers several schemes sends several headers. Control characters
 * are allowed in no header (RFC 9110 section 5.5), and an answer would repeat them.
 */
export function parseAuthParameters(value: string): AuthParameters | undefined {
  if (/[^\P{Cc}\t]/u.test(value)) return undefined
  const match = /^\s*([A-Za-z][\w-]*)(?:\s+(.*))?$/s.exec(value.slice(0, maxLength))
  if (!match) return undefined
  const parameters = new Map<string, string>()
  for (const [, name, quoted, plain] of (match[2] ?? '').matchAll(
    /(?<![\w-])([\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*))/g,
  )) {
    parameters.set(name!.toLowerCase(), quoted === undefined ? plain! : quoted.replace(/\\(.)/g, '$1'))
  }
  return { scheme: match[1]!.toLowerCase(), parameters }
}

/** Splits a header that may contain several challenges (RFC 7235 4.1) into strings for `parseAuthParameters`. */
export function splitChallenges(header: string): string[] {
  const value = header.slice(0, maxLength)
  // Quoted strings may contain anything, so they are masked.
  const plain = value.replace(/"(?:[^"\\]|\\.)*"/g, (quoted) => '"'.padEnd(quoted.length, '.'))
  const starts = [...plain.matchAll(/(?:^|,)\s*(?=[A-Za-z][\w-]*(?:\s+[\w-]+\s*=|\s*(?:,|$)))/g)]
  return starts.map(({ index }, i) => value.slice(index, starts[i + 1]?.index).replace(/^[\s,]+|[\s,]+$/g, ''))
}

/**
 * `unquoted` names the parameters that are written without quotes (in Digest: algorithm, stale, nc, and qop in a
 * response).
 */
export function writeAuthParameters(
  scheme: string,
  parameters: Iterable<readonly [string, string]>,
  unquoted: ReadonlySet<string> = new Set(['algorithm', 'stale', 'nc']),
): string {
  const list = [...parameters].map(([name, value]) =>
    unquoted.has(name) ? `${name}=${value}` : `${name}="${value.replace(/["\\]/g, '\\$&')}"`,
  )
  return `${scheme} ${list.join(', ')}`
}

// Parses the Range header of a request for a file. RFC 9110 14.1.2, 14.2.

export type ByteSpan = { readonly first: number; readonly last: number }

/**
 * Returns the requested bytes of a file of `totalBytes`, both ends inclusive. Undefined means that the whole file is
 * sent: without a header, and for other units, several ranges or invalid syntax, which a server may ignore.
 * 'unsatisfiable' means that no byte of the file is in the range. Numbers may have any length.
 */
export function parseByteRange(header: string | undefined, totalBytes: number): ByteSpan | 'unsatisfiable' | undefined {
  const match = /^bytes=\s*(\d*)-(\d*)\s*$/i.exec(header ?? '')
  if (!match) return undefined
  const [, first, last] = match
  if (first === '' && last === '') return undefined
  if (first === '') {
    const suffix = Math.min(Number(last), totalBytes)
    return suffix === 0 ? 'unsatisfiable' : { first: totalBytes - suffix, last: totalBytes - 1 }
  }
  const from = Number(first)
  const to = last === '' ? totalBytes - 1 : Math.min(Number(last), totalBytes - 1)
  if (last !== '' && Number(last) < from) return undefined
  return from >= totalBytes ? 'unsatisfiable' : { first: from, last: to }
}

// The Range header of a request for one file. RFC 9110 14.1.2, 14.2.

export type ByteSpan = { readonly first: number; readonly last: number }

/**
 * The bytes wanted of a file of `totalBytes`, both ends inclusive; undefined when the whole file is to be sent (no header, another
 * unit, more than one range, bad syntax: a server may ignore these); 'unsatisfiable' when no byte of the file is in the range. Numbers
 * may be of any length.
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

// Formats and parses sizes of recordings.

const units = [
  [1e12, 'terabyte'],
  [1e9, 'gigabyte'],
  [1e6, 'megabyte'],
] as const

/**
 * Three digits in the largest unit that fits, formatted for the language: `1.23 GB`. Never finer than a tenth of a
 * megabyte.
 */
export function writeBytes(bytes: number, language: string): string {
  const [size, unit] = units.find(([size]) => bytes >= size) ?? units.at(-1)!
  const digits = bytes < size ? { maximumFractionDigits: 1 } : { maximumSignificantDigits: 3 }
  const format = new Intl.NumberFormat(language, { style: 'unit', unit, ...digits })
  return format.format(bytes / size)
}

/** Parses a limit in gigabytes. Returns bytes, null for an empty field (no limit), or undefined for invalid input. */
export function readGigabytes(text: string): number | null | undefined {
  if (text.trim() === '') return null
  const bytes = Math.round(Number(text) * 1e9)
  return Number.isSafeInteger(bytes) && bytes > 0 ? bytes : undefined
}

/** Formats a limit for an input field. */
export function writeGigabytes(bytes: number | null): string {
  return bytes === null ? '' : String(bytes / 1e9)
}

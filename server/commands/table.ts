// Lists for people: columns as wide as what is in them.

/** One line per row below the titles; a description instead when there are none. */
export function writeTable(titles: readonly string[], rows: readonly (readonly string[])[], ifEmpty: string): string {
  if (rows.length === 0) return ifEmpty
  const lines = [titles, ...rows].map((row) => row.map(printable))
  const widths = titles.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)))
  const write = (line: string[]) => line.map((cell, column) => cell.padEnd(widths[column]!)).join('  ')
  return lines.map((line) => write(line).trimEnd()).join('\n')
}

/** A name that somebody chose must not move the cursor of whoever lists it. */
function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, '?')
}

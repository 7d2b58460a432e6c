// Text tables whose columns are as wide as their content.

/** Prints one line per row below the titles, or a message if there are no rows. */
export function writeTable(titles: readonly string[], rows: readonly (readonly string[])[], ifEmpty: string): string {
  if (rows.length === 0) return ifEmpty
  const lines = [titles, ...rows].map((row) => row.map(printable))
  const widths = titles.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)))
  const write = (line: string[]) => line.map((cell, column) => cell.padEnd(widths[column]!)).join('  ')
  return lines.map((line) => write(line).trimEnd()).join('\n')
}

/** Replaces control characters, so that a name cannot move the cursor of the terminal. */
function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, '?')
}

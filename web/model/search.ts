// Name search. Every word of the query must occur in the name; case and accents are ignored.

export function isFound(name: string, text: string): boolean {
  const folded = fold(name)
  return fold(text)
    .split(/\s+/)
    .every((word) => folded.includes(word))
}

function fold(text: string): string {
  return text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()
}

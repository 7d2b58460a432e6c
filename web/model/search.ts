// Whether a name is what somebody looks for: every word of it is in the name, whatever the case and the accents.

export function isFound(name: string, text: string): boolean {
  const folded = fold(name)
  return fold(text)
    .split(/\s+/)
    .every((word) => folded.includes(word))
}

function fold(text: string): string {
  return text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()
}

// The nightjar before the evening's moon; the pages of signing in show the same. Drawn by the style sheet.

export function Mark() {
  return <span className="mark" aria-hidden="true" />
}

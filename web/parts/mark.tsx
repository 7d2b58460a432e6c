// The logo, which the sign-in pages use too. It is drawn by the style sheet.

export function Mark() {
  return <span className="mark" aria-hidden="true" />
}

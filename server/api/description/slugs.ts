// Creates the fragment identifiers of headings like common Markdown renderers: lower case, no punctuation, hyphens for
// spaces, and a number after repeated headings.

export class Slugs {
  readonly #counts = new Map<string, number>()

  /** Must be called for every heading, in their order. */
  next(heading: string): string {
    const slug = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-')
    const count = this.#counts.get(slug) ?? 0
    this.#counts.set(slug, count + 1)
    return count === 0 ? slug : `${slug}-${count}`
  }
}

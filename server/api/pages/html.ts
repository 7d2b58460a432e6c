// HTML from tagged templates. Every value is escaped unless it is HTML already, so forgetting something is safe. Values
// may be placed between tags and in double-quoted attributes, but not in tag names, scripts or styles, which the pages
// do not contain.

/** Text that is HTML. Only `html` creates it. */
export class Html {
  readonly #text: string

  private constructor(text: string) {
    this.#text = text
  }

  /** For `html` and for files of this project. Never pass user input. */
  static trusted(text: string): Html {
    return new Html(text)
  }

  toString(): string {
    return this.#text
  }
}

/** `undefined`, `false` and `null` produce no output. */
export type HtmlValue = Html | string | number | false | null | undefined | readonly HtmlValue[]

export function html(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  let text = parts[0]!
  for (const [i, value] of values.entries()) text += write(value) + parts[i + 1]!
  return Html.trusted(text)
}

function write(value: HtmlValue): string {
  if (value instanceof Html) return value.toString()
  if (value === undefined || value === null || value === false) return ''
  if (Array.isArray(value)) return value.map(write).join('')
  return escapeHtml(String(value))
}

const replacements: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => replacements[character]!)
}

// HTML from tagged templates: every value is escaped unless it is HTML already, so that forgetting something is safe. Values stand
// between tags or in attributes with double quotes; never in a tag's name, a script or a style, of which no page has any.

/** Text that is HTML. Made by `html` only. */
export class Html {
  readonly #text: string

  private constructor(text: string) {
    this.#text = text
  }

  /** For `html` and for files of the project itself; never for what anybody typed. */
  static trusted(text: string): Html {
    return new Html(text)
  }

  toString(): string {
    return this.#text
  }
}

/** `undefined`, `false` and `null` leave nothing. */
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

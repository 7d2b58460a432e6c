// Fields that a form sent (application/x-www-form-urlencoded).

import { HttpError } from '../problem.ts'

export const maxFormBytes = 16 * 1024

export class Form {
  readonly #fields: URLSearchParams

  /** Throws HttpError 400 when a field is repeated or holds NUL, as no browser sends it. */
  constructor(text: string) {
    this.#fields = new URLSearchParams(text)
    const names = new Set(this.#fields.keys())
    if (names.size !== this.#fields.size || [...this.#fields.values()].some((value) => value.includes('\0'))) {
      throw new HttpError(400, 'invalid', 'The form could not be read.')
    }
  }

  /** As typed; empty when it was not sent. */
  get(name: string): string {
    return this.#fields.get(name) ?? ''
  }

  /** Without spaces around. */
  trimmed(name: string): string {
    return this.get(name).trim()
  }
}

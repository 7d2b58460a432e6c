// The fields of a submitted form (application/x-www-form-urlencoded).

import { HttpError, unsupportedMediaType } from '../problem.ts'
import type { SentBody } from '../request-body.ts'

export const maxFormBytes = 16 * 1024

/** Throws HttpError 415 for other content types. */
export function readForm({ bytes, contentType, contentEncoding }: SentBody): Form {
  const mediaType = contentType.split(';', 1)[0]!.trim().toLowerCase()
  const isForm = mediaType === 'application/x-www-form-urlencoded' && contentEncoding === ''
  if (!isForm && bytes?.length) throw unsupportedMediaType(mediaType)
  return new Form(Buffer.from(bytes ?? []).toString('utf8'))
}

export class Form {
  readonly #fields: URLSearchParams

  /** Throws HttpError 400 if a field is repeated or contains NUL. Browsers send neither. */
  constructor(text: string) {
    this.#fields = new URLSearchParams(text)
    const names = new Set(this.#fields.keys())
    if (names.size !== this.#fields.size || [...this.#fields.values()].some((value) => value.includes('\0'))) {
      throw new HttpError(400, 'invalid', 'The form could not be read.')
    }
  }

  /** Returns the value as submitted, or an empty string if it was not sent. */
  get(name: string): string {
    return this.#fields.get(name) ?? ''
  }

  /** Returns the value without surrounding spaces. */
  trimmed(name: string): string {
    return this.get(name).trim()
  }
}

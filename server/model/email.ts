// E-mail addresses as account names: what is accepted, and when two are the same.

import { AppError } from '../base/error.ts'

const maxLength = 254
const pattern = /^[^\s@<>()[\]\\,;:"\p{Cc}]+@[^\s@<>()[\]\\,;:"\p{Cc}]+$/u

/** The address without surrounding spaces. Throws 'invalid'. Deliberately loose: only a delivered mail proves an address. */
export function parseEmail(text: string): string {
  const email = text.trim()
  if (email.length > maxLength || !pattern.test(email)) {
    throw new AppError('invalid', 'Enter a valid email address.', {
      fields: { email: ['Enter a valid email address.'] },
    })
  }
  return email
}

/** Equal for addresses that are one account. */
export function emailKey(email: string): string {
  return email.trim().toLowerCase()
}

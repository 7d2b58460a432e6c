// E-mail addresses as account names: what is accepted, and when two are the same.

import { AppError } from '../base/error.ts'

const maxLength = 254
const pattern = /^[^\s@<>()[\]\\,;:"\p{Cc}\p{Cf}]+@[^\s@<>()[\]\\,;:"\p{Cc}\p{Cf}]+$/u

/** The address without surrounding spaces. Throws 'invalid'. Deliberately loose: only a delivered mail proves an address. */
export function parseEmail(text: string): string {
  const email = text.trim()
  if (email.length > maxLength || !pattern.test(email) || !email.isWellFormed()) {
    throw new AppError('invalid', 'Enter a valid email address.', {
      fields: { email: ['Enter a valid email address.'] },
    })
  }
  return email
}

/**
 * Equal for addresses that are one account: in lower case, with composed letters (NFC), and a domain of other scripts as the name
 * system knows it (RFC 5890).
 */
export function emailKey(email: string): string {
  const key = email.trim().normalize('NFC').toLowerCase()
  const at = key.lastIndexOf('@')
  const domain = key.slice(at + 1)
  return at < 0 || isAscii(domain) ? key : key.slice(0, at + 1) + writeAsciiDomain(domain)
}

const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text)

/** The domain itself when it is none. */
function writeAsciiDomain(domain: string): string {
  if (!/^[\p{L}\p{M}\p{N}.\-\u3002\uff0e\uff61]+$/u.test(domain)) return domain
  return URL.parse(`https://${domain}/`)?.hostname ?? domain
}

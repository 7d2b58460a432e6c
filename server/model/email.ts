// Email addresses as account names: which are valid, and when two are equal.

import { AppError } from '../base/error.ts'

const maxLength = 254
/** RFC 5322 section 3.2.3, with the letters of RFC 6531; no quoted local parts. */
const atom = /^[^\s@<>()[\]\\,;:".\p{C}]+$/u
/** RFC 5890 section 2.3.1, in any script. */
const label = /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?$/u

/**
 * Returns the trimmed address. Throws 'invalid'. Only checks the format; only a delivered email proves that an address
 * exists.
 */
export function parseEmail(text: string): string {
  const email = text.trim()
  const [local = '', domain = '', ...more] = email.split('@')
  const isWellFormed =
    more.length === 0 &&
    local.split('.').every((part) => atom.test(part)) &&
    domain.split('.').every((part) => label.test(part))
  if (email.length > maxLength || !isWellFormed) {
    throw new AppError('invalid', 'Enter a valid email address.', {
      fields: { email: ['Enter a valid email address.'] },
    })
  }
  return email
}

/**
 * A key that is equal for addresses of the same account: in lower case, with composed letters (NFC), and with
 * internationalized domains in ASCII form (RFC 5890).
 */
export function emailKey(email: string): string {
  const key = email.trim().normalize('NFC').toLowerCase()
  const at = key.lastIndexOf('@')
  const domain = key.slice(at + 1)
  return at < 0 || isAscii(domain) ? key : key.slice(0, at + 1) + writeAsciiDomain(domain)
}

const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text)

/** Returns the text unchanged if it is not a domain. */
function writeAsciiDomain(domain: string): string {
  if (!domain.split('.').every((part) => label.test(part))) return domain
  return URL.parse(`https://${domain}/`)?.hostname ?? domain
}

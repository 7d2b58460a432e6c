// One-time passwords of authenticator apps: TOTP (RFC 6238) based on HOTP (RFC 4226) with the parameters that all apps
// support: SHA-1, six digits and 30 seconds.

import { createHmac, timingSafeEqual } from 'node:crypto'

export const totpDigits = 6
const stepMs = 30_000
/** RFC 4226 section 4, R6: 160 bits. */
export const totpSecretBytes = 20

/** RFC 4226 section 5.3. `digits` is at most 9. */
export function computeHotp(secret: Uint8Array, counter: number, digits = totpDigits): string {
  const message = Buffer.alloc(8)
  message.writeBigUInt64BE(BigInt(counter))
  const mac = createHmac('sha1', secret).update(message).digest()
  const number = mac.readUInt32BE(mac[19]! & 15) & 0x7fffffff
  return String(number % 10 ** digits).padStart(digits, '0')
}

/** RFC 6238 section 4.2. */
export function stepAt(nowMs: number): number {
  return Math.floor(nowMs / stepMs)
}

/**
 * Returns the time step of `code`: the current, the previous or the next one, because clocks differ and people type
 * slowly (RFC 6238 section 5.2). Returns undefined for an incorrect code. Does not check whether the code was used
 * before.
 */
export function findStep(secret: Uint8Array, code: string, nowMs: number): number | undefined {
  const now = stepAt(nowMs)
  let found: number | undefined
  for (const step of [now - 1, now, now + 1]) {
    if (step >= 0 && isSame(computeHotp(secret, step), code)) found = step
  }
  return found
}

const driftSteps = 20

/**
 * How far the clock of the app is ahead of ours if the code is right for a time within ten minutes, in seconds. Such a code
 * is not accepted; a clock is wrong.
 */
export function findDrift(secret: Uint8Array, code: string, nowMs: number): number | undefined {
  const now = stepAt(nowMs)
  for (let steps = -driftSteps; steps <= driftSteps; steps++)
    if (now + steps >= 0 && isSame(computeHotp(secret, now + steps), code)) return (steps * stepMs) / 1000
  return undefined
}

/** RFC 4648 section 6, without padding. */
export function writeBase32(bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{1,5}/g) ?? []).map((group) => base32Alphabet[Number.parseInt(group.padEnd(5, '0'), 2)]).join('')
}

/** The URI in the QR code (Key URI format of Google Authenticator). Apps show `account`. */
export function writeKeyUri({ secret, account, issuer: given }: KeyUri): string {
  // Apps take what is before the first colon for the issuer.
  const issuer = given.replaceAll(':', '-')
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`
  return `otpauth://totp/${label}?secret=${writeBase32(secret)}&issuer=${encodeURIComponent(issuer)}`
}

export type KeyUri = { readonly secret: Uint8Array; readonly account: string; readonly issuer: string }

const base32Alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

function isSame(expected: string, found: string): boolean {
  const [a, b] = [Buffer.from(expected), Buffer.from(found)]
  return a.length === b.length && timingSafeEqual(a, b)
}

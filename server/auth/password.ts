// Passwords: argon2id (RFC 9106) with OWASP's minimum, as PHC strings. The work happens on libuv's threads; the server goes
// through `PasswordQueue` (auth/guard), which bounds how much of it is done at once.

import { randomBytes } from 'node:crypto'
import { hash, verify } from '@node-rs/argon2'
import { type AccountFault, invalidAccount, passwordLength } from '../model/account-fault.ts'

const parameters = { algorithm: 2 /* argon2id */, memoryCost: 19_456, timeCost: 2, parallelism: 1 }
const currentHead = '$argon2id$v=19$m=19456,t=2,p=1$'

/** Passwords that take fewer guesses fall to an attack over the network, even a throttled one. */
const minGuesses = 1e6

/**
 * Throws 'invalid' naming `field` unless the password has 8 to 256 characters and is hard to guess. Any characters are allowed.
 * `about`: email addresses of the user, which the password must not be made of.
 */
export async function checkPassword(
  password: string,
  about: readonly string[] = [],
  field = 'password',
): Promise<void> {
  const fault = await findPasswordFault(password, about)
  if (fault !== undefined) throw invalidAccount(fault, field)
}

async function findPasswordFault(password: string, about: readonly string[]): Promise<AccountFault | undefined> {
  const length = [...password].length
  if (length < passwordLength.min || length > passwordLength.max || !password.isWellFormed()) return 'password_length'
  const normalized = normalize(password)
  const known = about.flatMap((email) => [email, email.split('@')[0]!])
  if (known.includes(normalized.toLowerCase())) return 'password_is_email'
  const { estimateGuesses } = await import('./password-guesses.ts')
  return estimateGuesses(normalized, known) < minGuesses ? 'password_common' : undefined
}

/** A PHC string with a salt of its own. Throws 'invalid' as `checkPassword` does. */
export async function hashPassword(password: string): Promise<string> {
  await checkPassword(password)
  return hashAnyPassword(password)
}

/** The same for a password that was accepted before, under whatever rules. */
export async function hashAnyPassword(password: string): Promise<string> {
  return hash(normalize(password), parameters)
}

/** A hash that no password fits and that takes as long to check as any other. */
export function createUnmatchableHash(): string {
  const encode = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '')
  return `${currentHead}${encode(randomBytes(16))}$${encode(randomBytes(32))}`
}

/** False for what stands in place of a hash while an account has no password. */
export function isPasswordHash(passwordHash: string): boolean {
  return passwordHash.startsWith('$argon2')
}

export async function verifyPassword(passwordHash: string, password: string): Promise<boolean> {
  if (password.length > 2 * passwordLength.max) return false
  return verify(passwordHash, normalize(password))
}

/** True when the hash was made with other parameters than today's: hash again at the next log-in. */
export function needsRehash(passwordHash: string): boolean {
  return !passwordHash.startsWith(currentHead)
}

/** The same characters, however the keyboard composed them (NIST SP 800-63B 5.1.1.2). */
function normalize(password: string): string {
  return password.normalize('NFKC')
}

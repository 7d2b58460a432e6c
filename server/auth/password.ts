// Passwords are hashed with argon2id (RFC 9106) and the minimum parameters of OWASP, as PHC strings. The work is done
// on libuv's threads. The server uses `PasswordQueue` (auth/guard), which limits how much of it runs at once.

import { randomBytes } from 'node:crypto'
import { hash, verify } from '@node-rs/argon2'
import { type AccountFault, invalidAccount, passwordLength } from '../model/account-fault.ts'

const parameters = { algorithm: 2 /* argon2id */, memoryCost: 19_456, timeCost: 2, parallelism: 1 }
const currentHead = '$argon2id$v=19$m=19456,t=2,p=1$'

/** Passwords that take fewer guesses can be found over the network in spite of throttling. */
const minGuesses = 1e8

/**
 * Throws 'invalid' naming `field` unless the password has 8 to 256 characters and is hard to guess. All characters are
 * allowed. `about` contains email addresses of the user, which must not make up the password.
 */
export async function checkPassword(
  password: string,
  about: readonly string[] = [],
  field = 'password',
): Promise<void> {
  const fault = await findPasswordFault(password, about)
  if (fault !== undefined) throw invalidAccount(fault, field)
}

/** From 0 for a password that is refused to 3 for one that takes more than 10^14 guesses. */
export async function ratePassword(password: string, about: readonly string[] = []): Promise<number> {
  if ((await findPasswordFault(password, about)) !== undefined) return 0
  const { estimateGuesses } = await import('./password-guesses.ts')
  const guesses = estimateGuesses(normalize(password), about)
  return guesses < 1e10 ? 1 : guesses < 1e14 ? 2 : 3
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

/** Returns a PHC string with its own salt. Throws 'invalid' like `checkPassword`. */
export async function hashPassword(password: string): Promise<string> {
  await checkPassword(password)
  return hashAnyPassword(password)
}

/** Like `hashPassword`, for a password that was accepted before, under possibly different rules. */
export async function hashAnyPassword(password: string): Promise<string> {
  return hash(normalize(password), parameters)
}

/** A hash that no password matches and that takes as long to verify as any other. */
export function createUnmatchableHash(): string {
  const encode = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '')
  return `${currentHead}${encode(randomBytes(16))}$${encode(randomBytes(32))}`
}

/** False for the placeholder of an account without a password. */
export function isPasswordHash(passwordHash: string): boolean {
  return passwordHash.startsWith('$argon2')
}

export async function verifyPassword(passwordHash: string, password: string): Promise<boolean> {
  if (password.length > 2 * passwordLength.max) return false
  return verify(passwordHash, normalize(password))
}

/** True if the hash was created with other than the current parameters and should be renewed at the next sign-in. */
export function needsRehash(passwordHash: string): boolean {
  return !passwordHash.startsWith(currentHead)
}

/** Normalizes how keyboards compose characters (NIST SP 800-63B section 5.1.1.2). */
function normalize(password: string): string {
  return password.normalize('NFKC')
}

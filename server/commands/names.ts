// Parses the values that commands take: users by email address or id, other objects by id, and sizes.

import { AppError } from '../base/error.ts'
import { parseByteSize } from '../model/byte-size.ts'
import type { User } from '../store/accounts/users.ts'
import type { Store } from '../store/store.ts'

/** Throws 'not_found'. */
export async function getNamedUser(store: Pick<Store, 'users'>, name: string): Promise<User> {
  const byEmail = await store.users.findByEmail(name)
  const user = byEmail ?? (/^\d{1,15}$/.test(name) ? await store.users.find(Number(name)) : undefined)
  if (!user) throw new AppError('not_found', `there is no user ${name}`)
  return user
}

/** Parses the id of a new row: 1 to 2³¹-1, so that all following ids fit as well. Throws 'invalid'. */
export function parseNewId(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const id = /^\d{1,10}$/.test(text) ? Number(text) : 0
  if (id < 1 || id > 0x7fff_ffff)
    throw new AppError('invalid', `--id: expected a number from 1 to 2147483647, got "${text}"`)
  return id
}

/** Parses the id of an existing row. Throws 'not_found' for malformed ids too. */
export function parseId(what: string, text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new AppError('not_found', `there is no ${what} ${text}`)
  return Number(text)
}

const minSize = 1024 * 1024

/** Parses `--max-size`. Returns null for "none". Throws 'invalid'. */
export function parseMaxSize(text: string | undefined): number | null | undefined {
  if (text === undefined) return undefined
  if (text === 'none') return null
  const bytes = parseByteSize(text)
  if (bytes < minSize) throw new AppError('invalid', `--max-size: expected at least 1 MiB, got "${text}"`)
  return bytes
}

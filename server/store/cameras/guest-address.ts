// Guests who were invited before they had an account are known only by their address. This file assigns them to the
// account that has it.

import type { Kysely } from 'kysely'
import { AppError } from '../../base/error.ts'
import type { Tables } from '../schema.ts'

/**
 * Assigns the guest rows that wait for the address to the account, except for its own cameras. Call in the transaction
 * in which the account gets the address, which must be locked (`lockAddress`). `key`: `emailKey` of the address.
 */
export async function takeWaitingGuests(transaction: Kysely<Tables>, userId: number, key: string): Promise<void> {
  await transaction
    .updateTable('guests')
    .set({ user_id: userId })
    .where('email_key', '=', key)
    .where('user_id', 'is', null)
    .where('camera_id', 'not in', (of) => of.selectFrom('cameras').select('id').where('owner_id', '=', userId))
    .execute()
}

/**
 * Throws 'not_found' if the guest was deleted. Otherwise locks the guest until the end of the transaction, so that its
 * deletion includes what is created here.
 */
export async function holdGuest(transaction: Kysely<Tables>, guestId: number): Promise<void> {
  const query = transaction.selectFrom('guests').select('id').where('id', '=', guestId)
  if (!(await query.forUpdate().executeTakeFirst())) throw new AppError('not_found', `there is no guest ${guestId}`)
}

/**
 * The account that a new guest with this address belongs to; null if there is none yet. Call in a transaction that has
 * locked the address.
 */
export async function findAccountOf(
  transaction: Kysely<Tables>,
  key: string,
  cameraId: number,
): Promise<number | null> {
  const user = await transaction
    .selectFrom('users')
    .select('id')
    .where('email_key', '=', key)
    .where('id', 'not in', (of) => of.selectFrom('cameras').select('owner_id').where('id', '=', cameraId))
    .executeTakeFirst()
  return user?.id ?? null
}

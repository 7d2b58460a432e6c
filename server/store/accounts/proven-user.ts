// What is created after a user has proved an identity (a session, grant, code, token or link) must not outlive a change
// of the account's credentials, even a change between the proof and the creation.

import type { Kysely } from 'kysely'
import { AppError } from '../../base/error.ts'
import type { Tables } from '../schema.ts'

/** A user, with the version of the account's credentials at the time of the proof. */
export type ProvenUser = { readonly id: number; readonly credentialsVersion: number }

/**
 * Call in the creating transaction before its first write: later changes of the account wait for the end of the
 * transaction and then end what it created. Throws 'unauthenticated' if the account was changed, disabled or removed
 * since the proof.
 */
export async function holdProven(transaction: Kysely<Tables>, { id, credentialsVersion }: ProvenUser): Promise<void> {
  const row = await transaction
    .selectFrom('users')
    .select('id')
    .where('id', '=', id)
    .where('credentials_version', '=', credentialsVersion)
    .where('disabled_at_ms', 'is', null)
    .forShare()
    .executeTakeFirst()
  if (!row) throw credentialsChanged()
}

export function credentialsChanged(): AppError {
  return new AppError('unauthenticated', 'the credentials of the account were changed in the meantime')
}

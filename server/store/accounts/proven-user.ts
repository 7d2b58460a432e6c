// What is made for somebody who proved to be a user (a session, a grant, a code, a token, a link) must not outlive a
// change of what signs in to the account, even one that comes between the proof and the making.

import type { Kysely } from 'kysely'
import { AppError } from '../../base/error.ts'
import type { Tables } from '../schema.ts'

/** A user, and the version of the account's credentials at the moment of the proof. */
export type ProvenUser = { readonly id: number; readonly credentialsVersion: number }

/**
 * In the transaction that makes it, before its first write: whoever changes the account waits for the end of the
 * transaction and then ends what it made. Throws 'unauthenticated' when the account was changed, disabled or removed
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

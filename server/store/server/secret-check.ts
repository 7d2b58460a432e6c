// Checks whether the key file belongs to this database. An error at the start is clearer than one for each camera whose
// password cannot be unsealed.

import type { Kysely } from 'kysely'
import { AppError } from '../../base/error.ts'
import type { SealedBox } from '../../base/sealed-box.ts'
import type { Tables } from '../schema.ts'

const context = 'secret check'

/** Throws 'corrupt' if the database was created with another key. */
export async function checkSecret(db: Kysely<Tables>, box: SealedBox): Promise<void> {
  const select = db.selectFrom('secret_check').select('sealed').where('id', '=', 1)
  if (!(await select.executeTakeFirst())) {
    await db
      .insertInto('secret_check')
      .values({ id: 1, sealed: box.seal('nightjar', context) })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  }
  const { sealed } = await select.executeTakeFirstOrThrow()
  try {
    box.unseal(sealed, context)
  } catch (cause) {
    const message = 'secret.key is not the key this database was made with: restore the one that belongs to it'
    throw new AppError('corrupt', message, { cause })
  }
}

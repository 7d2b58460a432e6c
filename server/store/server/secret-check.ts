// Whether the key file belongs to this database. Better told at the start than by each camera whose password does not
// open.

import type { Kysely } from 'kysely'
import { AppError } from '../../base/error.ts'
import type { SealedBox } from '../engine/sealed-box.ts'
import type { Tables } from '../schema.ts'

const context = 'secret check'

/** Throws 'corrupt' when the database was made under another key. */
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
    box.open(sealed, context)
  } catch (cause) {
    const message = 'secret.key is not the key this database was made with: restore the one that belongs to it'
    throw new AppError('corrupt', message, { cause })
  }
}

// Settings that owners of the server change while it runs, for all users of the database. Settings that are chosen
// before the start are in server/config/.

import type { Kysely } from 'kysely'
import type { Tables } from '../schema.ts'

export class Settings {
  readonly #db: Kysely<Tables>

  constructor(db: Kysely<Tables>) {
    this.#db = db
  }

  /** Whether owners need a second factor for new sign-ins. Default: no. */
  async isSecondFactorRequired(): Promise<boolean> {
    const query = this.#db.selectFrom('settings').select('value').where('name', '=', requiresSecondFactor)
    return (await query.executeTakeFirst())?.value === 'owners'
  }

  async setSecondFactorRequired(isRequired: boolean): Promise<void> {
    const value = isRequired ? 'owners' : 'nobody'
    await this.#db
      .insertInto('settings')
      .values({ name: requiresSecondFactor, value })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
      .execute()
  }
}

const requiresSecondFactor = 'requires-second-factor'

// What makes PostgreSQL tell other processes that a table has changed: a trigger that notifies, delivered with the
// commit. The payload is the writer's application_name, which every process chooses for itself; the same one twice in a
// transaction is one.

import { type Kysely, sql } from 'kysely'
import { isPostgres } from '../engine/database.ts'

export const changeChannel = 'nightjar_changes'

/** In a migration: the function that the triggers call. Nothing on SQLite, which counts commits. */
export async function createChangeFunction(db: Kysely<never>): Promise<void> {
  if (!isPostgres(db)) return
  await sql`
    create function nightjar_tell_change() returns trigger language plpgsql as $$
    begin
      perform pg_notify(${sql.lit(changeChannel)}, current_setting('application_name'));
      return null;
    end $$`.execute(db)
}

/** In a migration: from now on other processes hear of changes of the table. */
export async function tellChanges(db: Kysely<never>, table: string): Promise<void> {
  if (!isPostgres(db)) return
  await sql`
    create trigger ${sql.id(`${table}_tell_change`)} after insert or update or delete on ${sql.table(table)}
    for each row execute function nightjar_tell_change()`.execute(db)
}

// Triggers that make PostgreSQL notify other processes of changes of a table; notifications are delivered with the
// commit. The payload is the writer's application_name, which differs in every process. Equal notifications of a
// transaction are delivered once.

import { type Kysely, sql } from 'kysely'
import { isPostgres } from '../engine/database.ts'

export const changeChannel = 'nightjar_changes'

/** For migrations: creates the function that the triggers call. Does nothing on SQLite, which counts commits. */
export async function createChangeFunction(db: Kysely<never>): Promise<void> {
  if (!isPostgres(db)) return
  await sql`
    create function nightjar_tell_change() returns trigger language plpgsql as $$
    begin
      perform pg_notify(${sql.lit(changeChannel)}, current_setting('application_name'));
      return null;
    end $$`.execute(db)
}

/** For migrations: from now on, other processes are notified of changes of the table. */
export async function tellChanges(db: Kysely<never>, table: string): Promise<void> {
  if (!isPostgres(db)) return
  await sql`
    create trigger ${sql.id(`${table}_tell_change`)} after insert or update or delete on ${sql.table(table)}
    for each row execute function nightjar_tell_change()`.execute(db)
}

// Triggers that make PostgreSQL notify other processes of changes of a table; notifications are delivered with the
// commit. The payload is the writer's application_name, which differs in every process, and what has changed. Equal
// notifications of a transaction are delivered once.

import { type Kysely, sql } from 'kysely'
import type { StoreChange } from '../engine/change-feed.ts'
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

/**
 * For migrations: from now on, notifications say what has changed, as `readChange` reads it. `kinds`: tables whose
 * changes are told by the name of the table.
 */
export async function tellWhatChanges(db: Kysely<never>, kinds: readonly string[]): Promise<void> {
  if (!isPostgres(db)) return
  await sql`
    create or replace function nightjar_tell_change() returns trigger language plpgsql as $$
    declare
      kind text := 'records';
      row jsonb := to_jsonb(case when tg_op = 'DELETE' then old else new end);
      reported text[] := array['status', 'status_reason', 'status_code', 'status_detail', 'snapshot_at_ms'];
    begin
      if tg_table_name in (${sql.join(kinds.map((kind) => sql.lit(kind)))}) then
        kind := tg_table_name;
      elsif tg_table_name in ('users', 'user_limits') then
        kind := 'accounts';
      elsif tg_table_name in ('cameras', 'recordings') then
        if tg_op = 'UPDATE' and to_jsonb(new) - reported = to_jsonb(old) - reported then
          kind := 'status';
        else
          kind := 'camera ' || (row ->> (case tg_table_name when 'cameras' then 'id' else 'camera_id' end));
        end if;
      end if;
      perform pg_notify(${sql.lit(changeChannel)}, current_setting('application_name') || ' ' || kind);
      return null;
    end $$`.execute(db)
}

/** The writer of a notification, and what it has changed. */
export function readChange(payload = ''): { readonly writer: string; readonly change: StoreChange } {
  const [writer = '', kind = '', id] = payload.split(' ')
  if (kind === 'camera' && /^\d+$/.test(id ?? '')) return { writer, change: { camera: Number(id) } }
  if (kind === 'node_settings' || kind === 'camera_placements') return { writer, change: 'camera_leases' }
  const change = (
    ['records', 'places', 'accounts', 'status', 'events', 'waiting_mails', 'camera_leases'] as const
  ).find((each) => each === kind)
  return { writer, change: change ?? 'foreign' }
}

/** For migrations: from now on, other processes are notified of changes of the table, or of these only. */
export async function tellChanges(
  db: Kysely<never>,
  table: string,
  changes: 'insert' | 'insert or update or delete' = 'insert or update or delete',
): Promise<void> {
  if (!isPostgres(db)) return
  await sql`
    create trigger ${sql.id(`${table}_tell_change`)} after ${sql.raw(changes)} on ${sql.table(table)}
    for each row execute function nightjar_tell_change()`.execute(db)
}

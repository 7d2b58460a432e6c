// Footage in more than one place. What there is belongs to the first place, the folder of `--archive`.

import { type Kysely, sql } from 'kysely'
import { columnTypes } from '../engine/column-types.ts'
import { tellChanges } from '../postgres/postgres-triggers.ts'
import { flag, required, unique } from './baseline/columns.ts'

export async function addPlaces(db: Kysely<never>): Promise<void> {
  const { id, identity } = columnTypes(db)
  await db.schema
    .createTable('places')
    .addColumn('id', id, identity)
    .addColumn('folder', 'text', required)
    .addColumn('mark', 'text', unique)
    .addColumn('weight', 'double precision', required)
    .addColumn('is_draining', 'integer', flag)
    .execute()
  await tellChanges(db, 'places')
  await db.schema
    .createTable('copies')
    .addColumn('place_id', id, required)
    .addColumn('path', 'text', required)
    .addColumn('owner', 'text', required)
    .addPrimaryKeyConstraint('copies_key', ['place_id', 'path'])
    .execute()
  for (const table of ['segments', 'pending_deletions'])
    await db.schema
      .alterTable(table)
      .addColumn('place_id', id, (column) => column.notNull().defaultTo(1))
      .execute()
  await db.schema.alterTable('recordings').addColumn('local_retention', 'text').execute()
  await db.schema.alterTable('footage').renameTo('footage_before').execute()
  await db.schema
    .createTable('footage')
    .addColumn('camera_id', id, required)
    .addColumn('place_id', id, required)
    .addColumn('bytes', 'bigint', required)
    .addColumn('segments', 'bigint', required)
    .addPrimaryKeyConstraint('footage_of_place', ['camera_id', 'place_id'])
    .execute()
  await sql`insert into footage (camera_id, place_id, bytes, segments) select camera_id, 1, bytes, segments from footage_before`.execute(
    db,
  )
  await db.schema.dropTable('footage_before').execute()
}

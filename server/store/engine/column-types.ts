// Column types that the two databases name differently, for migrations. All others are equal: text, integer,
// bigint, double precision.

import type { ColumnDataType, ColumnDefinitionBuilder, Kysely } from 'kysely'
import { isPostgres } from './database.ts'

export type ColumnTypes = {
  /** For ids and references to them. */
  readonly id: ColumnDataType
  readonly bytes: ColumnDataType
  /**
   * For generated keys, unless one is given (see given-id.ts). Ids are never reused, not even after a deletion, because
   * signed links and footage refer to them.
   */
  readonly identity: (column: ColumnDefinitionBuilder) => ColumnDefinitionBuilder
}

export function columnTypes(db: Kysely<never>): ColumnTypes {
  return isPostgres(db)
    ? { id: 'bigint', bytes: 'bytea', identity: (column) => column.primaryKey().generatedByDefaultAsIdentity() }
    : // Only an `integer` key is SQLite's own row number; all its integers have 64 bits.
      { id: 'integer', bytes: 'blob', identity: (column) => column.primaryKey().autoIncrement() }
}

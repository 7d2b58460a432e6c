// Converts values of PostgreSQL to the types of the tables, which are those that node:sqlite returns.

import pg from 'pg'

/** Object identifiers in pg_type. Sums of bigint are numeric. */
const bytea = 17
const int8 = 20
const numeric = 1700

const parsers = new Map<number, (text: string) => unknown>([
  [bytea, parseBytea],
  // Ids, bytes and milliseconds stay far below 2^53.
  [int8, Number],
  [numeric, Number],
])

export const postgresTypes: pg.CustomTypesConfig = {
  getTypeParser: (id, format) => parsers.get(id) ?? pg.types.getTypeParser(id, format as 'text'),
}

/** `\x` and hexadecimal digits, the form of PostgreSQL 9.0 and later. */
function parseBytea(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text.slice(2), 'hex'))
}

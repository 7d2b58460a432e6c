// Reads the complete content of a database without the store, for tests of what it contains.

import { openDatabase } from '../../server/store/engine/open-database.ts'

/** Returns the rows of each table as the driver returns them. */
export async function readRows(database: string): Promise<Record<string, Record<string, unknown>[]>> {
  const { db } = await openDatabase(database)
  try {
    const rows: Record<string, Record<string, unknown>[]> = {}
    for (const { name } of await db.introspection.getTables()) {
      rows[name] = await db
        .selectFrom(name as 'users')
        .selectAll()
        .execute()
    }
    return rows
  } finally {
    await db.destroy()
  }
}

/** Returns every value as searchable text; bytes become one character each. */
export function listTexts(rows: Awaited<ReturnType<typeof readRows>>): string[] {
  const write = (value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : String(value)
  return Object.values(rows).flatMap((table) => table.flatMap((row) => Object.values(row).map(write)))
}

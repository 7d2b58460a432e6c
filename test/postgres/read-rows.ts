// Everything a database holds, read past the store: for tests of what is left there and of what is not.

import { openDatabase } from '../../server/store/engine/open-database.ts'

/** The rows of each table, as the driver gives them. */
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

/** Every value as text, bytes letter by letter, to be searched. */
export function listTexts(rows: Awaited<ReturnType<typeof readRows>>): string[] {
  const write = (value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : String(value)
  return Object.values(rows).flatMap((table) => table.flatMap((row) => Object.values(row).map(write)))
}

// What a test reads or changes in the tables of a server behind its back.

import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { isPostgresUrl } from '../server/store/postgres/postgres-url.ts'

/** A statement that both databases understand. Returns the rows, with numbers that are exact up to 2^53. */
export async function queryDatabase<T>({ database }: { readonly database: string }, statement: string): Promise<T[]> {
  if (!isPostgresUrl(database)) {
    using file = new DatabaseSync(database, { timeout: 10_000 })
    return file.prepare(statement).all() as T[]
  }
  const client = new pg.Client({ connectionString: database })
  await client.connect()
  try {
    return (await client.query(statement)).rows as T[]
  } finally {
    await client.end()
  }
}

// All tables of the first release. Tables that refer to others are created after them.

import type { Kysely } from 'kysely'
import { createChangeFunction } from '../postgres/postgres-triggers.ts'
import { createAccountTables } from './baseline/accounts.ts'
import { createCameraTables } from './baseline/cameras.ts'
import {
  createIdentityTable,
  createLinkTables,
  createSecondFactorTables,
  createSessionTable,
  createTokenTable,
} from './baseline/credentials.ts'
import { createEventTables } from './baseline/events.ts'
import { createFootageTables, createStreamTable } from './baseline/footage.ts'
import { createOAuthTables } from './baseline/oauth.ts'

export async function createBaseline(db: Kysely<never>): Promise<void> {
  await createChangeFunction(db)
  await createAccountTables(db)
  await createSessionTable(db)
  await createSecondFactorTables(db)
  await createIdentityTable(db)
  await createOAuthTables(db)
  await createTokenTable(db)
  await createCameraTables(db)
  await createLinkTables(db)
  await createEventTables(db)
  await createFootageTables(db)
  await createStreamTable(db)
}

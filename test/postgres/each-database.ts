// Tests of the store run on both databases: each on a new file, and each in a new database of a PostgreSQL server, which all tests
// of a file share.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import type { Store, StoreOptions } from '../../server/store/store.ts'
import { openTemporaryStore } from '../../server/store/temporary-store.ts'
import { findPostgres, TemporaryPostgres } from './temporary-postgres.ts'

export type TestDatabase = {
  readonly kind: 'SQLite' | 'PostgreSQL'
  /** A new, empty database for `openStore`. */
  create(t: TestContext): Promise<string>
  /** A store in a new database. */
  openStore(
    t: TestContext,
    options?: Partial<StoreOptions>,
  ): Promise<{ store: Store; database: string; credentialsKey: Uint8Array }>
}

/** The test twice. That on PostgreSQL is skipped, with the reason printed, where it is not installed. */
export function testEachDatabase(title: string, run: (t: TestContext, database: TestDatabase) => Promise<void>): void {
  test(`${title} (SQLite)`, (t) => run(t, sqlite))
  testPostgres(`${title} (PostgreSQL)`, (t, postgres) => {
    const create = () => postgres.createDatabase()
    const openStore: TestDatabase['openStore'] = async (t, options) =>
      openTemporaryStore(t, { ...options, database: await create() })
    return run(t, { kind: 'PostgreSQL', create, openStore })
  })
}

const sqlite: TestDatabase = { kind: 'SQLite', create: createFile, openStore: openTemporaryStore }

const bin = findPostgres()
const shared: { server?: Promise<TemporaryPostgres> } = {}

/** A test that needs the server itself, for instance to stop it. */
export function testPostgres(title: string, run: (t: TestContext, postgres: TemporaryPostgres) => Promise<void>): void {
  const skip = bin === undefined && 'PostgreSQL is not installed: apt-get install postgresql'
  test(title, { skip }, async (t) => run(t, await openShared(bin!)))
}

function openShared(bin: string): Promise<TemporaryPostgres> {
  if (!shared.server) shared.server = TemporaryPostgres.open(bin)
  return shared.server
}

after(async () => {
  await (await shared.server)?.close()
})

async function createFile(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'nightjar-store-'))
  t.after(() => rm(folder, { recursive: true }))
  return join(folder, 'nightjar.db')
}

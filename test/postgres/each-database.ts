// Runs store tests on both databases: on a new SQLite file and in a new database of a PostgreSQL server. All test files
// share one server if NIGHTJAR_TEST_POSTGRES contains its URL.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Store, StoreOptions } from '../../server/store/store.ts'
import { openTemporaryStore } from '../support/store/temporary-store.ts'
import { createDatabase, createTemplate, dropDatabase, findPostgres, TemporaryPostgres } from './temporary-postgres.ts'

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

/** Runs the test twice. The run on PostgreSQL is skipped, with the reason, if PostgreSQL is not installed. */
export function testEachDatabase(title: string, run: (t: TestContext, database: TestDatabase) => Promise<void>): void {
  test(`${title} (SQLite)`, (t) => run(t, sqlite))
  testOnPostgres(`${title} (PostgreSQL)`, (t) => run(t, postgresql))
}

const sqlite: TestDatabase = { kind: 'SQLite', create: createFile, openStore: openTemporaryStore }

const postgresql: TestDatabase = {
  kind: 'PostgreSQL',
  create: () => createShared(),
  openStore: async (t, options) =>
    openTemporaryStore(t, { ...options, database: await createShared(await findTemplate()) }),
}

const bin = findPostgres()
const skip = bin === undefined && 'PostgreSQL is not installed: apt-get install postgresql'
/** URL of a server that all test files share; without one, each file starts its own. */
const sharedUrl = process.env.NIGHTJAR_TEST_POSTGRES
/** URL of a database there with the tables of the store. */
const sharedTemplate = process.env.NIGHTJAR_TEST_TEMPLATE
/** What the process of this file opened. `waiting`: tests that may need it. */
const own: { waiting: number; server?: Promise<TemporaryPostgres>; template?: Promise<string> } = { waiting: 0 }
const created: string[] = []

/** Runs a test that needs a server of its own, for example to stop it. */
export function testPostgres(title: string, run: (t: TestContext, postgres: TemporaryPostgres) => Promise<void>): void {
  testOnPostgres(title, async (t) => run(t, await openOwn()))
}

/** The last of these tests in a process closes what they share there. */
function testOnPostgres(title: string, run: (t: TestContext) => Promise<void>): void {
  if (skip === false) own.waiting++
  test(title, { skip }, async (t) => {
    try {
      await run(t)
    } finally {
      // After what the test itself closes.
      t.after(async () => {
        if (--own.waiting === 0) await closeOwn()
      })
    }
  })
}

function openOwn(): Promise<TemporaryPostgres> {
  own.server ??= TemporaryPostgres.open(bin!)
  return own.server
}

async function closeOwn(): Promise<void> {
  for (const url of created.splice(0)) await dropDatabase(sharedUrl!, url)
  const server = await own.server
  delete own.server
  delete own.template
  await server?.close()
}

async function findTemplate(): Promise<string> {
  if (sharedTemplate !== undefined) return sharedTemplate
  const adminUrl = (await openOwn()).url('postgres')
  own.template ??= createTemplate(adminUrl)
  return own.template
}

async function createShared(template?: string): Promise<string> {
  if (sharedUrl === undefined) return createDatabase((await openOwn()).url('postgres'), template)
  const url = await createDatabase(sharedUrl, template)
  created.push(url)
  return url
}

async function createFile(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'nightjar-store-'))
  t.after(() => rm(folder, { recursive: true }))
  return join(folder, 'nightjar.db')
}

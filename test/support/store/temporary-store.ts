// A real store in a temporary folder, for tests. It is removed with the test.

import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { openStore, type Store, type StoreOptions } from '../../../server/store/store.ts'

/** A second owner, so that the first user can be disabled or removed. */
export async function addKeeper({ users }: Pick<Store, 'users'>): Promise<void> {
  await users.insert({ email: 'keeper@nightjar.test', firstName: '', lastName: '', passwordHash: '!', isOwner: true })
}

export async function openTemporaryStore(
  t: TestContext,
  options: Partial<StoreOptions> = {},
): Promise<{ store: Store; database: string; credentialsKey: Uint8Array }> {
  const folder = await mkdtemp(join(tmpdir(), 'nightjar-store-'))
  const database = options.database ?? join(folder, 'nightjar.db')
  const credentialsKey = options.credentialsKey ?? randomBytes(32)
  const store = await openStore({ foreignIntervalMs: 0, ...options, database, credentialsKey })
  t.after(async () => {
    await store.close()
    await rm(folder, { recursive: true })
  })
  return { store, database, credentialsKey }
}

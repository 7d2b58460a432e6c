// The data folder and the database as the commands use them: the same as a running server's.

import { access } from 'node:fs/promises'
import { openSecretKey } from '../auth/secret-key.ts'
import { AppError } from '../base/error.ts'
import type { Config } from '../config.ts'
import { isPostgresUrl } from '../store/postgres-url.ts'
import type { Store } from '../store/store.ts'

/** Opens the store for the time of `work`. Throws 'not_found' when there is none and `isCreated` is not set. */
export async function withStore<T>(
  { data, database }: Pick<Config, 'data' | 'database'>,
  work: (store: Store) => Promise<T>,
  { isCreated = false }: { isCreated?: boolean } = {},
): Promise<T> {
  // Loaded only here: help and faulty command lines need no database.
  const { openStore } = await import('../store/store.ts')
  const isThere = isPostgresUrl(database) || (await isFile(database))
  if (!isThere && !isCreated) {
    const advice = 'name the right folder with --data, or begin with: nightjar user add'
    throw new AppError('not_found', `there is no data of Nightjar in ${data}; ${advice}`)
  }
  const secretKey = await openSecretKey(data)
  const credentialsKey = secretKey.deriveKey('camera credentials')
  await using store = await openStore({ database, credentialsKey, foreignIntervalMs: 0 })
  return await work(store)
}

function isFile(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

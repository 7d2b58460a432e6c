// The data folder as the commands use it: the same files as a running server's.

import { access } from 'node:fs/promises'
import { openSecretKey } from '../auth/secret-key.ts'
import { AppError } from '../base/error.ts'
import type { Config } from '../config.ts'
import type { Store } from '../store/store.ts'

/** Opens the store for the time of `work`. Throws 'not_found' when there is none and `isCreated` is not set. */
export async function withStore<T>(
  { data }: Pick<Config, 'data'>,
  work: (store: Store) => Promise<T>,
  { isCreated = false }: { isCreated?: boolean } = {},
): Promise<T> {
  // Loaded only here: help and faulty command lines need no database.
  const { databaseFile, openStore } = await import('../store/store.ts')
  const file = databaseFile(data)
  const isThere = await access(file).then(
    () => true,
    () => false,
  )
  if (!isThere && !isCreated) {
    const advice = 'name the right folder with --data, or begin with: nightjar user add'
    throw new AppError('not_found', `there is no data of Nightjar in ${data}; ${advice}`)
  }
  const secretKey = await openSecretKey(data)
  const credentialsKey = secretKey.deriveKey('camera credentials')
  await using store = await openStore({ file, credentialsKey, foreignIntervalMs: 0 })
  return await work(store)
}

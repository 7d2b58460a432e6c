// Opens the data folder and the database for commands, as the server does.

import { access } from 'node:fs/promises'
import { openSecretKey } from '../auth/secret-key.ts'
import { systemClock } from '../base/clock.ts'
import { AppError } from '../base/error.ts'
import { silentLogger } from '../base/log.ts'
import type { Config } from '../config.ts'
import { lockFolder } from '../folder-lock.ts'
import { isBucket, type Place } from '../model/place.ts'
import type { Places } from '../places/places.ts'
import { isPostgresUrl } from '../store/postgres/postgres-url.ts'
import type { Store } from '../store/store.ts'

/**
 * Opens the store for the duration of `work`. Throws 'not_found' when there is no database and `isCreated` is not set.
 */
export async function withStore<T>(
  {
    data,
    database,
    secretKeyFile,
  }: Pick<Config, 'data' | 'database'> & { readonly secretKeyFile?: string | undefined },
  work: (store: Store) => Promise<T>,
  { isCreated = false }: { isCreated?: boolean } = {},
): Promise<T> {
  // Loaded here because help and invalid command lines need no database.
  const { openStore } = await import('../store/store.ts')
  if (!isCreated) await checkThere({ data, database })
  const secretKey = await openSecretKey(data, { givenFile: secretKeyFile })
  const credentialsKey = secretKey.deriveKey('camera credentials')
  await using store = await openStore({ database, credentialsKey, foreignIntervalMs: 0 })
  return await work(store)
}

/**
 * Like `withStore`, but ensures that no server uses the database or the recordings meanwhile. Throws 'conflict' if one
 * does.
 */
export async function withStoppedServer<T>(config: Config, work: (store: Store) => Promise<T>): Promise<T> {
  const { claimDatabase } = await import('../store/engine/database-claim.ts')
  const { database, data: dataDir, archive } = config
  await checkThere(config)
  using locks = new DisposableStack()
  for (const { folder } of archive) if (!isBucket({ folder }) && (await isThere(folder))) locks.use(lockFolder(folder))
  await using _ = await claimDatabase({ database, dataDir, clock: systemClock, log: silentLogger })
  return await withStore(config, work)
}

/**
 * The places that this machine has, and the folders of the other servers, where several share a database: their paths mean
 * nothing here.
 */
export async function openPlaces(
  { archive, nodeName }: Pick<Config, 'archive' | 'nodeName'>,
  store: Store,
): Promise<{ readonly places: Places; readonly others: readonly Place[] }> {
  const { findPlaces } = await import('../archive/open-places.ts')
  const all = await store.places.list()
  const nodes = new Set(all.flatMap(({ node }) => node ?? []))
  const places = await findPlaces(store.places, archive, { node: nodes.size > 1 ? nodeName : undefined })
  const own = new Set(places.all.map(({ id }) => id))
  return { places, others: all.filter(({ id }) => !own.has(id)) }
}

/** Throws 'not_found' if there is no database. */
export async function checkThere({ data, database }: Pick<Config, 'data' | 'database'>): Promise<void> {
  if (isPostgresUrl(database) || (await isThere(database))) return
  const advice = 'name the right folder with --data, or begin with: nightjar user add'
  throw new AppError('not_found', `there is no Nightjar data in ${data}; ${advice}`)
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

// Finds the places of the archive: those of the database, at the folders that the configuration names. A place is known
// by its mark, so that a disk may be mounted elsewhere.

import { access, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError, errorChain } from '../base/error.ts'
import type { Logger } from '../base/log.ts'
import { makeFolder } from '../base/make-folder.ts'
import { syncFolder } from '../base/sync-folder.ts'
import { firstPlaceId, isBucket, isOwnPlace, type Place } from '../model/place.ts'
import { BlockCache } from '../places/bucket/block-cache.ts'
import { BucketFiles } from '../places/bucket/bucket-files.ts'
import { parseBucketUrl } from '../places/bucket/bucket-url.ts'
import { createMark, isPresent, markFolder, readMark } from '../places/place-folder.ts'
import { Places, type RemoteFiles } from '../places/places.ts'
import type { SegmentRows } from './segment-rows.ts'

/** The rows of the places, in any database (server/store/footage/places.ts). */
export type PlaceRows = {
  list(): Promise<Place[]>
  add(place: Pick<Place, 'folder' | 'mark' | 'weight' | 'node'>): Promise<Place>
  change(id: number, values: Partial<Pick<Place, 'folder' | 'weight' | 'isDraining' | 'node'>>): Promise<void>
}

/** A folder of `--archive`. */
export type ArchiveFolder = Pick<Place, 'folder' | 'weight'>

/** `node`: the name of the server, where several share a database. Only its own folders are used, and buckets. */
type OfServer = {
  readonly node?: string | undefined
  readonly cacheBytes?: number | undefined
  /** Folders of the other servers. */
  readonly remote?: RemoteFiles | undefined
}

/** Only reads: for programs beside a server, and servers without cameras. */
export async function findPlaces(
  rows: Pick<PlaceRows, 'list'>,
  archive: readonly ArchiveFolder[],
  { node, cacheBytes }: OfServer = {},
): Promise<Places> {
  const { known } = await resolvePlaces(await rows.list(), archive, node)
  return new Places(
    known.filter((place) => isOwnPlace(place, node)),
    cacheBytes,
  )
}

/**
 * Called at a start. Adds places for new folders, and marks them. A folder that is empty although the index lists footage
 * in it, that belongs to another installation, or that cannot be written is reported, and nothing is recorded there.
 */
export async function openPlaces(
  rows: PlaceRows,
  archive: readonly ArchiveFolder[],
  segments: Pick<SegmentRows, 'listUsage' | 'listCameraIds'>,
  log: Logger,
  { node, cacheBytes, remote }: OfServer = {},
): Promise<Places> {
  const before = await rows.list()
  const { known, added } = await resolvePlaces(before, archive, node)
  for (const place of known) {
    const { folder, weight } = place
    const old = before.find(({ id }) => id === place.id)
    // The first place of a new database: its files may be there already.
    if (!old) await rows.add(place)
    else if (old.folder !== folder || old.weight !== weight || old.node !== place.node)
      await rows.change(place.id, { folder, weight, node: place.node })
  }
  for (const folder of added) {
    try {
      await addPlace(rows, folder, { node })
    } catch (error) {
      log.error({ folder: folder.folder, error: errorChain(error) }, 'nothing is recorded in this folder')
    }
  }
  const all = await rows.list()
  const places = new Places(
    all.filter((place) => isOwnPlace(place, node)),
    cacheBytes,
    remote,
  )
  await warnOfSharedDisks(places.folders, log)
  const usage = await segments.listUsage()
  const hasFootage = (id: number) => usage.some(({ placeId }) => placeId === id)
  const isOnlyOne = all.filter((place) => !isBucket(place)).length === 1 && (await segments.listCameraIds()).length > 0
  for (const place of places.folders) {
    await openPlace(place, hasFootage(place.id) || isOnlyOne, log)
    await warnOfFolderSyncs(place, log)
  }
  return places
}

/** Recording goes on: most of it is better than nothing. */
async function warnOfFolderSyncs({ folder }: Place, log: Logger): Promise<void> {
  // Other errors are reported when something is recorded.
  if (await syncFolder(folder).catch(() => true)) return
  log.warn(
    { folder },
    'the file system of this folder cannot confirm that new files are on the disk: a power failure may cost the recordings of the minutes before it, and repairs may find them missing',
  )
}

/**
 * Makes a folder a place. Throws 'conflict' for a folder that is one already, or holds recordings that this installation
 * does not know, unless `takesOver` says that its database was lost, and the system's error.
 */
export async function addPlace(
  rows: PlaceRows,
  { folder, weight }: ArchiveFolder,
  { takesOver = false, node }: { readonly takesOver?: boolean; readonly node?: string | undefined } = {},
): Promise<Place> {
  if (isBucket({ folder })) return addBucket(rows, folder, takesOver)
  const found = await readMark(folder)
  const isKnown = (place: Place) => (place.folder === folder && isOwnPlace(place, node)) || place.mark === found
  const known = (await rows.list()).find(isKnown)
  if (known) throw new AppError('conflict', `${folder} is place ${known.id} already`)
  const isUsed = found !== undefined || (await exists(join(folder, 'cameras')))
  if (isUsed && !takesOver)
    throw new AppError(
      'conflict',
      `${folder} belongs to another installation. Choose an empty folder, or take it over with --take-over if the database of that installation was lost`,
    )
  await makeFolder(folder, 0o700)
  const mark = found || createMark()
  if (mark !== found) await markFolder(folder, mark)
  return await rows.add({ folder, mark, weight, node })
}

/** Throws 'unavailable' with the reason if it cannot be used. */
async function addBucket(rows: PlaceRows, folder: string, takesOver: boolean): Promise<Place> {
  const known = (await rows.list()).find((place) => isSame(place.folder, folder))
  if (known) throw new AppError('conflict', `${folder} is place ${known.id} already`)
  const open = (mark: string) => new BucketFiles({ id: 0, folder, mark }, new BlockCache(0))
  const probe = open('')
  const found = await probe.readMark()
  if (!takesOver && (found !== undefined || (await probe.isUsed())))
    throw new AppError(
      'conflict',
      `${folder} belongs to another installation. Choose another prefix, or take it over with --take-over if the database of that installation was lost`,
    )
  const mark = found || createMark()
  await open(mark).mark()
  return await rows.add({ folder, mark, weight: 1 })
}

/** Buckets are the same if only their options differ. */
function isSame(a: string, b: string): boolean {
  if (!isBucket({ folder: a }) || !isBucket({ folder: b })) return a === b
  const [{ bucket, prefix, endpoint }, other] = [parseBucketUrl(a), parseBucketUrl(b)]
  return bucket === other.bucket && prefix === other.prefix && endpoint === other.endpoint
}

/** Such places do not hold more than one, and the free space is counted twice. */
async function warnOfSharedDisks(all: readonly Place[], log: Logger): Promise<void> {
  const disks = new Map<number, string>()
  for (const { folder } of all) {
    const found = await stat(folder).catch(() => undefined)
    const other = found && disks.get(found.dev)
    if (other) log.warn({ folder, other }, 'two folders of the recordings are on one disk; its space is counted twice')
    else if (found) disks.set(found.dev, folder)
  }
}

async function openPlace(place: Place, isExpected: boolean, log: Logger): Promise<void> {
  const { id, folder, mark } = place
  const found = await readMark(folder)
  if (found === mark) return
  if (found) {
    log.error({ folder }, 'the recordings folder belongs to another installation, or is another place of this one')
    return
  }
  const isEmpty = found === undefined && !(await exists(join(folder, 'cameras')))
  // Only the first place is new at a start.
  if (isEmpty && (isExpected || id !== firstPlaceId)) {
    log.error(
      { folder },
      'the folder of the recordings is empty: is its disk mounted? Nothing is recorded until it is there. If it was replaced: nightjar check --fix --forget-missing',
    )
    return
  }
  try {
    await markFolder(folder, mark)
  } catch (error) {
    log.error({ folder, error: errorChain(error) }, 'the recordings folder is not writable')
  }
}

/**
 * `added`: folders that are no places yet, of this server. A place is found by its mark, then by its folder. If the first place is at
 * neither, it is the first folder: the archive was moved without its marker file, or is from a version without marks. If
 * `node` has a folder that was of a server of another name, it is that server, and has its other folders too.
 */
async function resolvePlaces(
  rows: readonly Place[],
  archive: readonly ArchiveFolder[],
  node: string | undefined,
): Promise<{ readonly known: Place[]; readonly added: readonly ArchiveFolder[] }> {
  const known = [...rows]
  const rest = new Map(archive.map((each) => [each.folder, each]))
  const assigned = new Set<number>()
  const formerNames = new Set<string | undefined>([undefined])
  const assign = (each: ArchiveFolder, index: number) => {
    // A copy of a place has its mark too, and is none.
    if (index < 0 || assigned.has(index) || !rest.delete(each.folder)) return
    assigned.add(index)
    formerNames.add(known[index]!.node)
    known[index] = { ...known[index]!, ...each, ...(!isBucket(each) && node !== undefined && { node }) }
  }
  for (const each of archive) {
    const mark = isBucket(each) ? undefined : await readMark(each.folder)
    if (mark)
      assign(
        each,
        known.findIndex((place) => place.mark === mark),
      )
  }
  for (const each of archive)
    assign(
      each,
      known.findIndex((place) => isOwnPlace(place, node) && isSame(place.folder, each.folder)),
    )
  for (const [index, place] of known.entries())
    if (node !== undefined && !isBucket(place) && formerNames.has(place.node) && (await isMarked(place)))
      known[index] = { ...place, node }
  const [first] = archive
  if (first && rest.has(first.folder)) {
    const index = known.findIndex((place) => place.id === firstPlaceId && isOwnPlace(place, node))
    if (index >= 0 && !(await isPresent(known[index]!))) assign(first, index)
    else if (known.length === 0) {
      known.push({
        id: firstPlaceId,
        ...first,
        mark: (await readMark(first.folder)) || createMark(),
        isDraining: false,
        ...(node !== undefined && { node }),
      })
      rest.delete(first.folder)
    }
  }
  return { known, added: [...rest.values()] }
}

async function isMarked({ folder, mark }: Place): Promise<boolean> {
  return (await readMark(folder)) === mark
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

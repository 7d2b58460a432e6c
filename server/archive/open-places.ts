// Finds the places of the archive: those of the database, at the folders that the configuration names. A place is known
// by its mark, so that a disk may be mounted elsewhere.

import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { errorChain } from '../base/error.ts'
import type { Logger } from '../base/log.ts'
import { firstPlaceId, type Place } from '../model/place.ts'
import { createMark, markFolder, readMark } from '../places/place-folder.ts'
import { Places } from '../places/places.ts'
import type { SegmentRows } from './segment-rows.ts'

/** The rows of the places, in any database (server/store/footage/places.ts). */
export type PlaceRows = {
  list(): Promise<Place[]>
  add(place: Pick<Place, 'folder' | 'mark' | 'weight'>): Promise<Place>
  change(id: number, values: Partial<Pick<Place, 'folder' | 'weight' | 'isDraining'>>): Promise<void>
}

/** A folder of `--archive`. */
export type ArchiveFolder = Pick<Place, 'folder' | 'weight'>

/** Only reads: for programs beside a server. */
export async function findPlaces(rows: Pick<PlaceRows, 'list'>, archive: readonly ArchiveFolder[]): Promise<Places> {
  return new Places((await resolvePlaces(await rows.list(), archive)).known)
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
): Promise<Places> {
  const before = await rows.list()
  const { known, added } = await resolvePlaces(before, archive)
  for (const place of known) {
    const { folder, weight } = place
    const old = before.find(({ id }) => id === place.id)
    // The first place of a new database: its files may be there already.
    if (!old) await rows.add(place)
    else if (old.folder !== folder || old.weight !== weight) await rows.change(place.id, { folder, weight })
  }
  for (const { folder, weight } of added) {
    const mark = createMark()
    try {
      await markFolder(folder, mark)
      await rows.add({ folder, mark, weight })
    } catch (error) {
      log.error({ folder, error: errorChain(error) }, 'the recordings folder is not writable')
    }
  }
  const places = new Places(await rows.list())
  const usage = await segments.listUsage()
  const hasFootage = (id: number) => usage.some(({ placeId }) => placeId === id)
  const isOnlyOne = places.all.length === 1 && (await segments.listCameraIds()).length > 0
  for (const place of places.all) await openPlace(place, hasFootage(place.id) || isOnlyOne, log)
  return places
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

/** `added`: folders that are no places yet. */
async function resolvePlaces(
  rows: readonly Place[],
  archive: readonly ArchiveFolder[],
): Promise<{ readonly known: Place[]; readonly added: readonly ArchiveFolder[] }> {
  const known = [...rows]
  const added: ArchiveFolder[] = []
  for (const [i, { folder, weight }] of archive.entries()) {
    const mark = await readMark(folder)
    // The first folder is the first place wherever it is.
    const found = [
      known.findIndex((place) => mark && place.mark === mark),
      known.findIndex((place) => place.folder === folder),
      i === 0 ? known.findIndex(({ id }) => id === firstPlaceId) : -1,
    ].find((index) => index >= 0)
    if (found !== undefined) known[found] = { ...known[found]!, folder, weight }
    else if (i === 0) known.push({ id: firstPlaceId, folder, mark: mark || createMark(), weight, isDraining: false })
    else added.push({ folder, weight })
  }
  return { known, added }
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

// Repairs what a check has found, so that index and files agree again. It loses no footage: unknown content is set
// aside. Nobody else may use the archive meanwhile.

import { AppError, errorChain } from '../base/error.ts'
import { makeFolder } from '../base/make-folder.ts'
import type { Place } from '../model/place.ts'
import type { FileLocation } from '../model/segment-views.ts'
import { markFolder, readMark } from '../places/place-folder.ts'
import { Places } from '../places/places.ts'
import { type Adoption, adoptFile, type KnownCamera } from './adoption.ts'
import { Catalog } from './catalog.ts'
import { type CheckOptions, type CheckReport, checkArchive, listCameraDays, listCameras } from './check.ts'
import { type DeletionContext, deleteSegments } from './deletion.ts'
import { addIndex, lacksIndex } from './file-samples.ts'
import { findCameraOfPath, startOfPath } from './layout.ts'
import { removeUnfinishedCopies } from './move.ts'
import { reconcileSegment } from './reconcile-segment.ts'
import type { SegmentRows } from './segment-rows.ts'
import { setAside } from './set-aside.ts'

export type FixOptions = CheckOptions &
  DeletionContext & {
    readonly cameras: readonly KnownCamera[]
    /** Also when the whole archive, or most of it, is missing. */
    readonly forgetsMissing: boolean
    /** Adds footage that is older than its camera, after the database was lost. */
    readonly adoptsOlder?: boolean
    /** Told from time to time how far long work is. */
    readonly say?: ((text: string) => void) | undefined
  }

export type Fix = {
  readonly action: 'forgotten' | 'cut' | 'split' | 'set_aside' | 'recounted' | 'indexed' | 'failed' | Adoption
  /** A path relative to the archive's folder, or a camera. */
  readonly path: string
  readonly detail?: string
}

/** Fewer missing files need no confirmation. */
const maxMissing = 10
/** A lost disk may have held millions of files. */
const forgottenAtOnce = 100

/**
 * Checks and repairs. Run another check to see whether everything is well. Throws 'conflict', without any change, when
 * so much is missing that the disk is probably not mounted.
 */
export async function fixArchive(given: FixOptions): Promise<Fix[]> {
  const lost = await checkPresence(given)
  const fixes: Fix[] = []
  for (const place of lost) {
    const forgotten = new Map<number, number>()
    await forgetPlace(given.rows, place, (files, cameraId) =>
      forgotten.set(cameraId, (forgotten.get(cameraId) ?? 0) + files),
    )
    for (const [cameraId, files] of forgotten)
      fixes.push({ action: 'forgotten', path: `camera ${cameraId}`, detail: `${files} files in ${place.folder}` })
  }
  const options = { ...given, places: new Places(given.places.all.filter((place) => !lost.includes(place))) }
  await removeUnfinishedCopies(options)
  await new Catalog(options).repairOpen(options.cameras)
  const report = await checkArchive(options)
  checkMissing(report, options)
  const attempt = async (path: string, fix: () => Promise<Omit<Fix, 'path'>>) => {
    try {
      fixes.push({ ...(await fix()), path })
    } catch (error) {
      fixes.push({ action: 'failed', path, detail: errorChain(error) })
    }
  }
  for (let i = 0; i < report.missingFiles.length; i += forgottenAtOnce) {
    const some = report.missingFiles.slice(i, i + forgottenAtOnce)
    // All of them share one wait for the disk.
    const forgetting = deleteSegments(
      options,
      some.map(({ id }) => id),
    )
    for (const { path } of some) {
      await attempt(path, async () => {
        await forgetting
        return { action: 'forgotten' }
      })
    }
  }
  for (const { id, placeId, path } of [...report.sizeMismatches, ...report.damagedFiles]) {
    await attempt(path, async () => {
      checkFolder(options.places, placeId)
      return reconcileSegment(options, (await options.rows.find(id))!)
    })
  }
  for (const file of report.orphanFiles) await attempt(file.path, () => placeOrphan(options, file))
  for (const cameraId of report.wrongCounters) {
    await attempt(`camera ${cameraId}`, async () => {
      await options.rows.recount(cameraId)
      return { action: 'recounted' }
    })
  }
  for (const cameraId of await listCameras(options)) {
    const indexed = await addIndexes(options, cameraId, attempt)
    if (indexed > 0) fixes.push({ action: 'indexed', path: `camera ${cameraId}`, detail: `${indexed} files` })
  }
  return fixes
}

/** Adds the index to files that have none: those of earlier versions, and those that were repaired. */
async function addIndexes(
  options: FixOptions,
  cameraId: number,
  attempt: (path: string, fix: () => Promise<Omit<Fix, 'path'>>) => Promise<void>,
): Promise<number> {
  let count = 0
  for await (const day of listCameraDays(options, cameraId)) {
    const segments = await options.rows.listBetween(cameraId, day.startMs, day.endMs)
    const lacking = segments.filter((segment) => lacksIndex(segment) && isInFolder(options.places, segment.placeId))
    for (const segment of lacking) {
      try {
        await addIndex(options, segment)
        count++
      } catch (error) {
        await attempt(segment.path, () => Promise.reject(error))
      }
    }
    if (lacking.length > 0) options.say?.(`Camera ${cameraId}: ${count} files have an index now, up to ${day.name} …`)
  }
  return count
}

/** Objects in buckets are not changed. */
function checkFolder(places: Places, placeId: number): void {
  if (isInFolder(places, placeId)) return
  throw new AppError('unavailable', 'move the recording to a folder first, with nightjar archive move')
}

function isInFolder({ folders }: Places, placeId: number): boolean {
  return folders.some(({ id }) => id === placeId)
}

/** Returns the buckets that are lost for good. */
async function checkPresence({ places, rows, forgetsMissing }: FixOptions): Promise<Place[]> {
  const expected = new Set((await rows.listUsage()).map(({ placeId }) => placeId))
  const lost: Place[] = []
  for (const place of places.buckets) {
    const { id, folder, isDraining } = place
    const { state, detail = 'it belongs to another installation' } = await places.findState(id)
    if (state === 'ready') continue
    const advice = `If it is lost for good, run: nightjar place drain ${id} --keep-recordings; then say so with --forget-missing.`
    if (!isDraining || !forgetsMissing) throw new AppError('conflict', `${folder}: ${detail}. ${advice}`)
    lost.push(place)
  }
  for (const { id, folder, mark } of places.folders) {
    if (await places.isPresent(id)) continue
    if ((await readMark(folder)) !== undefined)
      throw new AppError('conflict', `${folder} belongs to another installation, or is another place of this one`)
    if (expected.has(id) && !forgetsMissing)
      throw new AppError('conflict', `${folder} is not an archive. ${adviceIfLost}`)
    // After a restore without footage, not even the folder exists.
    await makeFolder(folder, 0o700)
    await markFolder(folder, mark)
  }
  return lost
}

/** Forgets what was in a place that will not come back. Nobody may record there. Can be interrupted and run again. */
export async function forgetPlace(
  rows: SegmentRows,
  { id: placeId }: Place,
  onForgotten: (files: number, cameraId: number) => void,
): Promise<void> {
  const forget = async (ids: readonly number[], cameraId: number) => {
    await rows.markPendingDeletions(ids)
    await rows.remove(ids)
    onForgotten(ids.length, cameraId)
  }
  for (const { cameraId, placeId: each } of await rows.listUsage()) {
    if (each !== placeId) continue
    for (;;) {
      const some = await rows.listOldest(cameraId, { limit: forgottenAtOnce, placeId })
      if (some.length === 0) break
      await forget(
        some.map(({ id }) => id),
        cameraId,
      )
    }
  }
  for (const open of await rows.listOpen()) if (open.placeId === placeId) await forget([open.id], open.cameraId)
  for (;;) {
    const pending = await rows.listPendingDeletions(forgottenAtOnce, placeId)
    if (pending.length === 0) break
    await rows.remove(pending.map(({ id }) => id))
  }
  for (const copy of await rows.listCopies()) if (copy.placeId === placeId) await rows.endCopy(copy)
}

function checkMissing({ missingFiles, segments }: CheckReport, { forgetsMissing }: FixOptions): void {
  const { length } = missingFiles
  if (forgetsMissing || length <= maxMissing || length <= segments / 2) return
  throw new AppError('conflict', `${length} of ${segments} files are missing. ${adviceIfLost}`)
}

const adviceIfLost = 'Is its disk mounted? If the recordings are lost for good, say so with --forget-missing.'

/** Adds a row for footage of an existing camera that is not younger than the footage. */
async function placeOrphan(options: FixOptions, file: FileLocation): Promise<Omit<Fix, 'path'>> {
  const { path } = file
  const camera = options.cameras.find(({ id }) => id === findCameraOfPath(path))
  const isIts = camera !== undefined && (options.adoptsOlder || startOfPath(path) >= camera.createdAtMs)
  const adoption = isIts ? await adoptFile(options, file) : undefined
  if (adoption !== undefined && adoption !== 'unreadable') return { action: adoption }
  checkFolder(options.places, file.placeId)
  const place = await setAside(options.places, file)
  const reason = isIts ? 'no footage of ours' : 'of no camera there is'
  return { action: 'set_aside', detail: `${reason}, now ${place}` }
}

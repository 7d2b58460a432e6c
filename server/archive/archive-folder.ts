// Whether the archive's folder is the archive, or an empty mount point in its place: it holds a file that says so.

import { access, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../base/clock.ts'
import { errorChain } from '../base/error.ts'
import type { Logger } from '../base/log.ts'
import { syncFolder } from '../base/sync-folder.ts'
import type { SegmentRows } from './segment-rows.ts'

export const markerName = 'nightjar-archive.txt'

const markerText = `This folder holds the recordings of a Nightjar server.
The server records only where this file is, so that nothing is written to the folder below when a disk is not mounted.
`

export function isArchiveThere(archiveDir: string): Promise<boolean> {
  return exists(join(archiveDir, markerName))
}

/** How often to look for a disk that is away. */
const awayIntervalMs = 5000

/** Resolves when the archive is where it should be, or `signal` aborts. */
export async function waitForArchive(archiveDir: string, clock: Clock, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && !(await isArchiveThere(archiveDir))) {
    await clock.sleep(awayIntervalMs, signal).catch(() => {})
  }
}

/** Makes the folder an archive; nothing happens when it is one. On the disk when this resolves. Throws the system's error. */
export async function markArchive(archiveDir: string): Promise<void> {
  await writeFile(join(archiveDir, markerName), markerText, { flag: 'wx', mode: 0o640, flush: true }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    },
  )
  await syncFolder(archiveDir)
}

/**
 * At a start: makes the folder an archive when it is new, or from before there was a mark. False when that is not possible, and when the
 * index knows footage and nothing is there: the disk is probably not mounted.
 */
export async function openArchiveFolder(archiveDir: string, rows: SegmentRows, log: Logger): Promise<boolean> {
  if (await isArchiveThere(archiveDir)) return true
  const isExpected = (await rows.listCameraIds()).length > 0
  if (isExpected && !(await exists(join(archiveDir, 'cameras')))) {
    log.error(
      { archive: archiveDir },
      'the folder of the recordings is empty: is its disk mounted? Nothing is recorded until it is there. If it was replaced: nightjar check --fix --forget-missing',
    )
    return false
  }
  try {
    await markArchive(archiveDir)
    return true
  } catch (error) {
    log.error({ archive: archiveDir, error: errorChain(error) }, 'the folder of the recordings cannot be written')
    return false
  }
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

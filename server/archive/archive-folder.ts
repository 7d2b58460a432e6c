// Tells the archive's folder from an empty mount point in its place: the archive contains a marker file.

import { access, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../base/clock.ts'
import { errorChain } from '../base/error.ts'
import type { Logger } from '../base/log.ts'
import { pause } from '../base/pause.ts'
import { syncFolder } from '../base/sync-folder.ts'
import type { SegmentRows } from './segment-rows.ts'

export const markerName = 'nightjar-archive.txt'

const markerText = `This folder holds the recordings of a Nightjar server.
The server records only where this file is, so that nothing is written to the folder below when a disk is not mounted.
`

export function archiveExists(archiveDir: string): Promise<boolean> {
  return exists(join(archiveDir, markerName))
}

/** How often to check for a disk that is not mounted. */
const retryIntervalMs = 5000

/** Resolves when the archive is available, or when `signal` aborts. */
export async function waitForArchive(archiveDir: string, clock: Clock, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && !(await archiveExists(archiveDir))) {
    await pause(clock, retryIntervalMs, signal)
  }
}

/**
 * Marks the folder as an archive and syncs the marker. Does nothing if it is one already. Throws the system's error.
 */
export async function markArchive(archiveDir: string): Promise<void> {
  await writeFile(join(archiveDir, markerName), markerText, { flag: 'wx', mode: 0o640, flush: true }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    },
  )
  await syncFolder(archiveDir)
}

/**
 * Called at a start. Marks the folder as an archive when it is new, or older than the marker file. Returns false when
 * that fails, or when the index lists footage and the folder is empty, because its disk is probably not mounted.
 */
export async function openArchiveFolder(archiveDir: string, rows: SegmentRows, log: Logger): Promise<boolean> {
  if (await archiveExists(archiveDir)) return true
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
    log.error({ archive: archiveDir, error: errorChain(error) }, 'the recordings folder is not writable')
    return false
  }
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

// How full the disk of a place is.

import { statfs } from 'node:fs/promises'
import { AppError } from '../base/error.ts'
import type { DiskSpace } from '../model/free-space.ts'
import type { Place } from '../model/place.ts'
import { isPresent } from './place-folder.ts'

/**
 * The same for a place only: for an empty mount point, the system would report the disk below it. Throws 'unavailable',
 * and the system's error.
 */
export async function measurePlace(place: Place): Promise<DiskSpace> {
  if (await isPresent(place)) return measureDisk(place.folder)
  throw new AppError('unavailable', 'the recordings folder is missing or empty: check that its disk is mounted')
}

/** Throws the system's error. */
export async function measureDisk(folder: string): Promise<DiskSpace> {
  const { bsize, blocks, bavail } = await statfs(folder)
  return { totalBytes: blocks * bsize, freeBytes: bavail * bsize }
}

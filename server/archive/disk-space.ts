// How full the disk of the archive is.

import { statfs } from 'node:fs/promises'
import { AppError } from '../base/error.ts'
import type { DiskSpace } from '../model/free-space.ts'
import { isArchiveThere } from './archive-folder.ts'

/** The same, where the archive is: of an empty mount point the disk below would be measured. */
export async function measureArchiveDisk(archiveDir: string): Promise<DiskSpace> {
  if (await isArchiveThere(archiveDir)) return measureDisk(archiveDir)
  throw new AppError('unavailable', 'the folder of the recordings is not there, or empty: is its disk mounted?')
}

/** Throws the system's error. */
export async function measureDisk(folder: string): Promise<DiskSpace> {
  const { bsize, blocks, bavail } = await statfs(folder)
  return { totalBytes: blocks * bsize, freeBytes: bavail * bsize }
}

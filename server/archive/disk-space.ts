// How full the disk of the archive is.

import { statfs } from 'node:fs/promises'
import { AppError } from '../base/error.ts'
import type { DiskSpace } from '../model/free-space.ts'
import { archiveExists } from './archive-folder.ts'

/** The same for the archive only: for an empty mount point, the system would report the disk below it. */
export async function measureArchiveDisk(archiveDir: string): Promise<DiskSpace> {
  if (await archiveExists(archiveDir)) return measureDisk(archiveDir)
  throw new AppError('unavailable', 'the recordings folder is missing or empty: check that its disk is mounted')
}

/** Throws the system's error. */
export async function measureDisk(folder: string): Promise<DiskSpace> {
  const { bsize, blocks, bavail } = await statfs(folder)
  return { totalBytes: blocks * bsize, freeBytes: bavail * bsize }
}

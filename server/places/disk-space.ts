// How full a disk is.

import { statfs } from 'node:fs/promises'
import type { DiskSpace } from '../model/free-space.ts'

/** Throws the system's error. */
export async function measureDisk(folder: string): Promise<DiskSpace> {
  const { bsize, blocks, bavail } = await statfs(folder)
  return { totalBytes: blocks * bsize, freeBytes: bavail * bsize }
}

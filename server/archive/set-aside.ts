// Where files go that are no use as they are, and that only a person may throw away: out of the way of the archive, in the same folder
// and on the same disk.

import { constants, copyFile, rename, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { makeFolder } from '../base/make-folder.ts'
import { alternativePath } from './layout.ts'

const setAsideFolder = 'set-aside'

/** Moves the file; returns its new path, relative to the archive's folder as the old. Throws the system's error. */
export async function setAside(archiveDir: string, path: string): Promise<string> {
  const target = await findPlace(archiveDir, path)
  await rename(join(archiveDir, path), join(archiveDir, target))
  return target
}

/** As `setAside`, and the file stays too. */
export async function copyAside(archiveDir: string, path: string): Promise<string> {
  const target = await findPlace(archiveDir, path)
  await copyFile(join(archiveDir, path), join(archiveDir, target), constants.COPYFILE_EXCL)
  return target
}

async function findPlace(archiveDir: string, path: string): Promise<string> {
  const wanted = `${setAsideFolder}/${path}`
  await makeFolder(dirname(join(archiveDir, wanted)), 0o750)
  for (let attempt = 0; ; attempt++) {
    const target = attempt === 0 ? wanted : alternativePath(wanted, attempt)
    const isTaken = await stat(join(archiveDir, target)).then(
      () => true,
      () => false,
    )
    if (!isTaken) return target
  }
}

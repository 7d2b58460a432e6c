// Moves unusable files out of the archive, to a folder on the same disk. Only a person may delete them.

import { constants, copyFile, rename, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { makeFolder } from '../base/make-folder.ts'
import { alternativePath } from './layout.ts'

const setAsideFolder = 'set-aside'

/**
 * Moves the file. Returns its new path, relative to the archive's folder like the old one. Throws the system's error.
 */
export async function setAside(archiveDir: string, path: string): Promise<string> {
  const target = await findPlace(archiveDir, path)
  await rename(join(archiveDir, path), join(archiveDir, target))
  return target
}

/** Like `setAside`, but also keeps the original file. */
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

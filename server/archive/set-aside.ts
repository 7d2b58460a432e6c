// Moves unusable files out of the archive, to a folder on the same disk. Only a person may delete them.

import { constants, copyFile, rename, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { makeFolder } from '../base/make-folder.ts'
import type { FileLocation } from '../model/segment-views.ts'
import type { Places } from '../places/places.ts'
import { alternativePath } from './layout.ts'

const setAsideFolder = 'set-aside'

/**
 * Moves the file. Returns its new path, relative to the folder of its place like the old one. Throws the system's error.
 */
export async function setAside(places: Places, { placeId, path }: FileLocation): Promise<string> {
  const folder = places.folderOf(placeId)
  const target = await findFree(folder, path)
  await rename(join(folder, path), join(folder, target))
  return target
}

/** Like `setAside`, but also keeps the original file. */
export async function copyAside(places: Places, { placeId, path }: FileLocation): Promise<string> {
  const folder = places.folderOf(placeId)
  const target = await findFree(folder, path)
  await copyFile(join(folder, path), join(folder, target), constants.COPYFILE_EXCL)
  return target
}

async function findFree(folder: string, path: string): Promise<string> {
  const wanted = `${setAsideFolder}/${path}`
  await makeFolder(dirname(join(folder, wanted)), 0o750)
  for (let attempt = 0; ; attempt++) {
    const target = attempt === 0 ? wanted : alternativePath(wanted, attempt)
    const isTaken = await stat(join(folder, target)).then(
      () => true,
      () => false,
    )
    if (!isTaken) return target
  }
}

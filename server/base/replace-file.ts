// Writes a file that must neither be seen half written nor be lost with the power.

import { open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { syncFolder } from './sync-folder.ts'

/**
 * Creates or replaces the file. It appears under its name only when it is complete, and it is on the disk when this
 * resolves. Throws the system's error; then the file is as it was, or new but perhaps not on the disk yet.
 */
export async function replaceFile(path: string, content: string | Uint8Array, mode: number): Promise<void> {
  const folder = dirname(path)
  const temporary = join(folder, `.${basename(path)}.new`)
  // A crash may have left it.
  await rm(temporary, { force: true })
  try {
    await using file = await open(temporary, 'wx', mode)
    // Regardless of the umask.
    await file.chmod(mode)
    await file.writeFile(content)
    await file.sync()
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {})
    throw error
  }
  await syncFolder(folder)
}

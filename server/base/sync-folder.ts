// Makes the entries of a folder durable: those of new files, and the removal of others.

import { constants } from 'node:fs'
import { open } from 'node:fs/promises'

/**
 * Throws the system's error. After an error, a later success proves nothing: what was created must be created again.
 */
export async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder, constants.O_RDONLY)
  await handle.sync()
}

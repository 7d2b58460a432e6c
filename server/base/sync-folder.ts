// Makes the names in a folder last: those of new files, and that others are gone.

import { constants } from 'node:fs'
import { open } from 'node:fs/promises'

/** Throws the system's error. After that, a later success proves nothing: what was made has to be made anew. */
export async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder, constants.O_RDONLY)
  await handle.sync()
}

// Makes the entries of a folder durable: those of new files, and the removal of others.

import { constants } from 'node:fs'
import { open } from 'node:fs/promises'

/**
 * What network shares and shared folders of virtual machines answer that cannot do it (borgbackup/borg#1287,
 * syncthing/syncthing#4432; the last one restic/restic#3752).
 */
const unsupported: ReadonlySet<string | undefined> = new Set(['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'ENOENT'])

/**
 * Throws the system's error. After an error, a later success proves nothing: what was created must be created again.
 * Returns false if the file system cannot sync folders: then nobody knows when an entry is on the disk.
 */
export async function syncFolder(folder: string): Promise<boolean> {
  await using handle = await open(folder, constants.O_RDONLY)
  return await succeedsIfSupported(handle.sync())
}

/** Resolves with false if the file system does not know the operation. Rejects with its other errors. */
export async function succeedsIfSupported(operation: Promise<void>): Promise<boolean> {
  try {
    await operation
    return true
  } catch (error) {
    if (!unsupported.has((error as NodeJS.ErrnoException).code)) throw error
    return false
  }
}

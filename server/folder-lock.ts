// Allows one server per folder, because two servers would repair each other's open files.

import { join } from 'node:path'
import { AppError, errorChain } from './base/error.ts'
import type { Logger } from './base/log.ts'
import { makeFolder } from './base/make-folder.ts'
import { lockFile } from './store/engine/file-lock.ts'

/** Throws 'conflict' if another process holds the folder. Dispose to release it. */
export function lockFolder(folder: string): Disposable {
  const lock = lockFile(join(folder, 'server.lock'))
  if (lock) return lock
  const advice = 'stop it first, or name another folder with --data'
  throw new AppError('conflict', `another Nightjar server is running on ${folder}: ${advice}`)
}

/**
 * Like `lockFolder`, for a folder that may be on its own disk: a read-only or broken disk must not prevent the start.
 * Returns undefined if the folder is not writable.
 */
export async function lockArchive(folder: string, log: Logger): Promise<Disposable | undefined> {
  try {
    await makeFolder(folder, 0o700)
    return lockFolder(folder)
  } catch (error) {
    if (error instanceof AppError && error.kind === 'conflict') throw error
    log.error(
      { archive: folder, error: errorChain(error) },
      'the archive folder could not be locked: nothing is recorded while it is not writable, and no other server may use it',
    )
    return undefined
  }
}

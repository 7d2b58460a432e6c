// A lock of the operating system's, held through SQLite, so that it ends with the process however that ends, and no
// stale file ever stands in the way.

import { chmodSync, closeSync, openSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/** Undefined when another process holds it. Dispose to let it go. Throws when the file cannot be made. */
export function lockFile(file: string): Disposable | undefined {
  createPrivate(file)
  const lock = new DatabaseSync(file)
  try {
    lock.exec('pragma journal_mode = memory; begin exclusive')
  } catch (error) {
    lock.close()
    if ((error as { errcode?: number }).errcode === sqliteBusy) return undefined
    throw error
  }
  return { [Symbol.dispose]: () => lock.close() }
}

/**
 * For nobody else to hold. A file that is there is not opened for it: to close it would let go the lock that this
 * process may have.
 */
function createPrivate(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return
    try {
      if (statSync(file).mode & 0o077) chmodSync(file, 0o600)
    } catch {
      // Another user's: whether it can be locked shows in a moment.
    }
  }
}

const sqliteBusy = 5

// A lock of the operating system, taken through SQLite, so that it ends with the process in any case and never leaves a
// stale file behind.

import { chmodSync, closeSync, openSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/** Undefined if another process holds it. Dispose to release it. Throws if the file cannot be created. */
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
 * Creates the file so that nobody else can lock it. An existing file is not opened, because closing it would release
 * the lock that this process may hold.
 */
function createPrivate(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return
    try {
      if (statSync(file).mode & 0o077) chmodSync(file, 0o600)
    } catch {
      // It belongs to another user; the lock attempt below shows whether it can be locked.
    }
  }
}

const sqliteBusy = 5

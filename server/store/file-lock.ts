// A lock of the operating system's, held through SQLite, so that it ends with the process however that ends, and no stale file ever
// stands in the way.

import { DatabaseSync } from 'node:sqlite'

/** Undefined when another process holds it. Dispose to let it go. Throws when the file cannot be made. */
export function lockFile(file: string): Disposable | undefined {
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

const sqliteBusy = 5

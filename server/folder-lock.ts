// One server per folder: two would repair each other's open files. The lock is the operating system's, held through SQLite, so
// that it ends with the process however that ends, and no stale file ever stands in the way.

import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { AppError } from './base/error.ts'

/** Throws 'conflict' when another process holds the folder. Dispose to let it go. */
export function lockFolder(folder: string): Disposable {
  const lock = new DatabaseSync(join(folder, 'server.lock'))
  try {
    lock.exec('pragma journal_mode = memory; begin exclusive')
  } catch (cause) {
    lock.close()
    const advice = 'stop it first, or name another folder with --data'
    throw new AppError('conflict', `another Nightjar server is running on ${folder}: ${advice}`, { cause })
  }
  return {
    [Symbol.dispose]: () => lock.close(),
  }
}

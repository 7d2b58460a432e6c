// One server per folder: two would repair each other's open files.

import { join } from 'node:path'
import { AppError } from './base/error.ts'
import { lockFile } from './store/file-lock.ts'

/** Throws 'conflict' when another process holds the folder. Dispose to let it go. */
export function lockFolder(folder: string): Disposable {
  const lock = lockFile(join(folder, 'server.lock'))
  if (lock) return lock
  const advice = 'stop it first, or name another folder with --data'
  throw new AppError('conflict', `another Nightjar server is running on ${folder}: ${advice}`)
}

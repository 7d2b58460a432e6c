// The data folder: created at the first start, accessible only to its user.

import { access, constants } from 'node:fs/promises'
import { AppError } from './base/error.ts'
import { makeFolder } from './base/make-folder.ts'

/** Throws 'unavailable', with advice, if this user can neither create nor write it. */
export async function openDataFolder(folder: string): Promise<void> {
  try {
    await makeFolder(folder, 0o700)
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (cause) {
    const advice = 'run as the user it belongs to, or name another folder with --data'
    throw new AppError('unavailable', `the data folder ${folder} cannot be used; ${advice}`, { cause })
  }
}

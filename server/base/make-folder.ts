// Creates a folder and its parents. Node's `recursive` option loops forever, in a thread at full speed, if the system
// refuses a new folder with ENOENT although its parent exists: in /proc, and where an automounted share cannot be
// mounted.

import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Returns the topmost folder that was created; undefined if all existed. Throws the system's error. */
export async function makeFolder(folder: string, mode: number): Promise<string | undefined> {
  try {
    return (await makeOne(folder, mode)) ? folder : undefined
  } catch (error) {
    const parent = dirname(folder)
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === folder) throw error
    const first = await makeFolder(parent, mode)
    const isNew = await makeOne(folder, mode)
    return first ?? (isNew ? folder : undefined)
  }
}

/** Returns false if it existed. */
async function makeOne(folder: string, mode: number): Promise<boolean> {
  try {
    await mkdir(folder, { mode })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST' && (await stat(folder)).isDirectory()) return false
    throw error
  }
}

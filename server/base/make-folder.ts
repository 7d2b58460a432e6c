// A folder with those above it. Node's own `recursive` tries for ever, in a thread at full speed, where the system refuses a new
// folder with ENOENT although the one above is there: in /proc, and where a share that should be mounted on demand cannot be.

import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/** The topmost folder that was made; undefined when all were there. Throws what the system says. */
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

/** False when it was there. */
async function makeOne(folder: string, mode: number): Promise<boolean> {
  try {
    await mkdir(folder, { mode })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST' && (await stat(folder)).isDirectory()) return false
    throw error
  }
}

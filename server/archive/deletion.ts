// Deletes segments so that a crash at any moment leaves no row without its file and no file that nobody knows: the rows become
// garbage, the files go, the garbage goes. Doing it again finishes it.

import { rmdir, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AppError, errorChain } from '../base/error.ts'
import type { Logger } from '../base/log.ts'
import { findCameraOfPath } from './layout.ts'
import type { SegmentRows } from './segment-rows.ts'

export type DeletionContext = {
  readonly rows: SegmentRows
  readonly archiveDir: string
  readonly log: Logger
}

type Doomed = { readonly id: number; readonly path: string }

export async function deleteSegments(context: DeletionContext, segments: readonly Doomed[]): Promise<void> {
  if (segments.length === 0) return
  await context.rows.markGarbage(segments.map(({ id }) => id))
  await deleteGarbage(context, segments)
}

/** What an earlier run has marked and not finished. */
export async function deleteLeftGarbage(context: DeletionContext): Promise<void> {
  for (;;) {
    const garbage = await context.rows.listGarbage(stepSize)
    const gone = await deleteGarbage(context, garbage)
    if (garbage.length < stepSize || gone < garbage.length) return
  }
}

/** Segments per step: the database and the disk are free for others in between. */
export const stepSize = 50

/** Returns how many are gone; a file that cannot be deleted stays garbage and is tried again later. */
async function deleteGarbage(context: DeletionContext, garbage: readonly Doomed[]): Promise<number> {
  const gone: number[] = []
  for (const { id, path } of garbage) {
    try {
      await deleteFile(context.archiveDir, path)
      gone.push(id)
    } catch (error) {
      context.log.warn({ path, error: errorChain(error) }, 'recording not deleted')
    }
  }
  await context.rows.remove(gone)
  return gone.length
}

async function deleteFile(archiveDir: string, path: string): Promise<void> {
  if (findCameraOfPath(path) === undefined) throw new AppError('internal', 'expected the path of a recording')
  await unlink(join(archiveDir, path)).catch(ignoreMissing)
}

/** Removes the folder when nothing is in it. */
export async function deleteEmptyFolder(archiveDir: string, folder: string): Promise<void> {
  await rmdir(join(archiveDir, folder)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT' && error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
  })
}

/** Folders of the days that these files were in. */
export function dayFolders(paths: readonly string[]): string[] {
  return [...new Set(paths.map((path) => dirname(path)))]
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}

// Files without a row: a crash between the creation of a file and its row leaves them, and so does a database that could not be
// written. Those with footage get a row, those without any go.

import { open, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../base/error.ts'
import { describeInitSegment, type InitDescription } from '../media/mp4/describe-init.ts'
import type { DeletionContext } from './deletion.ts'
import { dayOfPath, findCameraOfPath, startOfPath } from './layout.ts'
import { listDayFiles, listDays } from './listing.ts'
import { closedValues, cutFile } from './repair.ts'
import { type SegmentScan, scanSegmentFile } from './segment-scan.ts'

/** 'empty': there was no whole fragment, and the file is gone. 'unreadable': no footage of this camera; it is left as it was. */
export type Adoption = 'adopted' | 'empty' | 'unreadable'

/** A first fragment that was cut off, or torn by a loss of power, is no larger; more deserves a look before it goes. */
const maxTornBytes = 5 * 1024 * 1024

/** Whole fragments are kept, the rest is cut off. Throws the system's error. */
export async function adoptFile({ rows, archiveDir }: DeletionContext, path: string): Promise<Adoption> {
  const fullPath = join(archiveDir, path)
  const cameraId = findCameraOfPath(path)!
  const scan = await scanSegmentFile(fullPath, { isVerified: true, cameraId })
  const [first] = scan.fragments
  const description = first && (await describeFile(fullPath, scan))
  if (!first || !description) {
    if (scan.fileBytes > maxTornBytes || scan.foreignCameraId !== undefined) return 'unreadable'
    await unlink(fullPath)
    return 'empty'
  }
  await cutFile(fullPath, scan)
  const id = await rows.insertOpen({
    cameraId,
    // A run of its own: where it was on the axis of its run only the lost row knew.
    runId: `found ${path}`,
    runStart90k: 0,
    path,
    startMs: first.startMs,
    initBytes: scan.initBytes,
    initHash: scan.initHash!,
    ...description,
    gapReason: undefined,
  })
  await rows.close(id, closedValues(scan))
  return 'adopted'
}

export type KnownCamera = {
  readonly id: number
  /** Older files are of another camera, which had this id on another database. */
  readonly createdAtMs: number
}

/**
 * At a start: files of the camera that are newer than its newest row. Rows are written in the order of files, so a crash leaves
 * only such; `check --fix` finds all others. Returns how many there were of each kind.
 */
export async function adoptNewerFiles(
  context: DeletionContext,
  { id, createdAtMs }: KnownCamera,
): Promise<Record<Adoption, number>> {
  const { rows, archiveDir } = context
  const counts = { adopted: 0, empty: 0, unreadable: 0 }
  const newest = await rows.findNewest(id)
  const fromMs = Math.max(newest?.startMs ?? 0, createdAtMs)
  const fromDay = dayOfPath(newest?.path ?? '')
  for (const day of await listDays(archiveDir, id)) {
    if (day.name < fromDay) continue
    const known = new Set((await rows.listFiles(id, day.startMs, day.endMs)).map(({ path }) => path))
    for (const path of await listDayFiles(archiveDir, id, day.name)) {
      if (!known.has(path) && startOfPath(path) >= fromMs) counts[await adoptFile(context, path)]++
    }
  }
  return counts
}

/** Undefined when the initialization section says nothing. */
async function describeFile(path: string, { initBytes }: SegmentScan): Promise<InitDescription | undefined> {
  await using file = await open(path, 'r')
  const { buffer } = await file.read(new Uint8Array(initBytes), 0, initBytes, 0)
  try {
    return describeInitSegment(buffer)
  } catch (error) {
    if (error instanceof AppError && error.kind === 'corrupt') return undefined
    throw error
  }
}

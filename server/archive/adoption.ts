// Files without a row: a crash between the creation of a file and its row leaves them, and so does a database that could not be
// written. Those with footage get a row, those without any go.

import { open, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../base/error.ts'
import { describeInitSegment, type InitDescription } from '../media/mp4/describe-init.ts'
import type { DeletionContext } from './deletion.ts'
import { findCameraOfPath, startOfPath } from './layout.ts'
import { listDayFiles, listDays } from './listing.ts'
import { closedValues, cutFile } from './repair.ts'
import type { SegmentRows } from './segment-rows.ts'
import { type SegmentScan, scanSegmentFile } from './segment-scan.ts'

/** 'empty': there was no whole fragment, and the file is gone. 'unreadable': no footage of this camera; it is left as it was. */
export type Adoption = 'adopted' | 'empty' | 'unreadable'

/** A first fragment that was cut off, or torn by a loss of power, is no larger; more deserves a look before it goes. */
const maxTornBytes = 5 * 1024 * 1024

/** Footage that begins or ends so near to other footage continues it. */
const seamMs = 2000

/** Whole fragments are kept, the rest is cut off. Throws the system's error. */
export async function adoptFile(context: DeletionContext, path: string): Promise<Adoption> {
  const { rows, archiveDir } = context
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
  await cutFile(context, path, scan)
  const opened = {
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
  }
  const id = await rows.insertOpen(opened, await choosePass(rows, cameraId, closedValues(scan).endMs, first.startMs))
  await rows.close(id, closedValues(scan))
  return 'adopted'
}

/**
 * Where the clock was set back: the pass in which the file continues other footage, the first of several. Undefined when that is the last
 * one, or none is known.
 */
async function choosePass(rows: DeletionContext['rows'], cameraId: number, endMs: number, startMs: number) {
  const last = await rows.findLast(cameraId)
  if (!last || last.pass === 0) return undefined
  const near = await rows.listSpans(cameraId, startMs - seamMs, endMs + seamMs)
  for (const [pass, spans] of Map.groupBy(near, (span) => span.pass ?? 0)) {
    const isFree = spans.every((span) => span.endMs <= startMs + seamMs || span.startMs >= endMs - seamMs)
    if (isFree) return pass === last.pass ? undefined : pass
  }
  return undefined
}

export type KnownCamera = {
  readonly id: number
  /** Older files are of another camera, which had this id on another database. */
  readonly createdAtMs: number
}

const hourMs = 3_600_000

/**
 * Unix milliseconds: at a start, files without a row that a crash left begin no earlier. Usually that is the start of the newest row. A server
 * that died soon after its start has not looked yet for what the one before it left: hence the row before those that are open.
 */
export async function findUnknownFrom(
  rows: SegmentRows,
  { id, createdAtMs }: KnownCamera,
  oldestOpenMs: number | undefined,
): Promise<number> {
  if (oldestOpenMs === undefined) return Math.max((await rows.findNewest(id))?.startMs ?? 0, createdAtMs)
  const before = await rows.listSpans(id, oldestOpenMs - hourMs, oldestOpenMs)
  return Math.max(before.findLast(({ startMs }) => startMs < oldestOpenMs)?.startMs ?? oldestOpenMs, createdAtMs)
}

/**
 * Files of a camera that begin at `fromMs` or later and have no row, and when they last changed. Rows are written in the order of files, so a
 * crash leaves only such; `check --fix` finds all others. Only the folders of the newest days are listed.
 */
export async function listUnknownFiles(
  { rows, archiveDir }: DeletionContext,
  id: number,
  fromMs: number,
): Promise<{ readonly path: string; readonly changedMs: number }[]> {
  const found: { path: string; changedMs: number }[] = []
  for (const day of await listDays(archiveDir, id)) {
    if (day.endMs <= fromMs) continue
    const paths = await listDayFiles(archiveDir, id, day.name)
    // The rows after the files: a file that got its row in between is known.
    const known = new Set((await rows.listFiles(id, day.startMs, day.endMs)).map(({ path }) => path))
    for (const path of paths) {
      if (known.has(path) || startOfPath(path) < fromMs) continue
      const { mtimeMs } = await stat(join(archiveDir, path))
      found.push({ path, changedMs: mtimeMs })
    }
  }
  return found
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

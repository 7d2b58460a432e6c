// Compares the index with the files, both ways. Reads only; safe beside a running server.

import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../base/clock.ts'
import type { Segment } from '../model/segment.ts'
import { findCameraOfPath } from './layout.ts'
import type { SegmentRows } from './segment-rows.ts'
import { scanSegmentFile } from './segment-scan.ts'

export type CheckOptions = {
  readonly rows: SegmentRows
  readonly archiveDir: string
  readonly clock: Clock
  /** Also reads the heads of all fragments and compares them with the index. */
  readonly isDeep?: boolean
  readonly signal?: AbortSignal
}

export type CheckReport = {
  segments: number
  files: number
  bytes: number
  /** In the index, not on the disk. Paths relative to the archive's folder, here and below. */
  missingFiles: string[]
  /** On the disk, not in the index. */
  orphanFiles: string[]
  sizeMismatches: { path: string; indexBytes: number; fileBytes: number }[]
  /** Files whose boxes do not agree with the index; only from a deep check. */
  damagedFiles: { path: string; detail: string }[]
}

/** Nothing is wrong. */
export function isClean(report: CheckReport): boolean {
  const { missingFiles, orphanFiles, sizeMismatches, damagedFiles } = report
  return missingFiles.length + orphanFiles.length + sizeMismatches.length + damagedFiles.length === 0
}

/** Files younger than this may be of a segment whose row is about to come. */
const settlingMs = 10_000

const pageSize = 200

/** Throws the database's and the system's errors, and `signal.reason`. */
export async function checkArchive(options: CheckOptions): Promise<CheckReport> {
  const { rows, archiveDir, clock, signal } = options
  const report: CheckReport = {
    segments: 0,
    files: 0,
    bytes: 0,
    missingFiles: [],
    orphanFiles: [],
    sizeMismatches: [],
    damagedFiles: [],
  }
  const unknown = new Set(await listFiles(archiveDir))
  report.files = unknown.size
  for (let lastId = 0; ; ) {
    signal?.throwIfAborted()
    const page = await rows.listAfter(lastId, pageSize)
    for (const segment of page) {
      report.segments++
      unknown.delete(segment.path)
      await checkSegment(options, segment, report)
    }
    if (page.length < pageSize) break
    lastId = page.at(-1)!.id
  }
  for (const { path } of await rows.listGarbage(Number.MAX_SAFE_INTEGER)) unknown.delete(path)
  for (const path of unknown) {
    const found = await statIfPresent(join(archiveDir, path))
    if (found && found.birthtimeMs < clock.nowMs() - settlingMs) report.orphanFiles.push(path)
  }
  return report
}

async function checkSegment({ rows, archiveDir, isDeep }: CheckOptions, segment: Segment, report: CheckReport) {
  const { path } = segment
  const file = await statIfPresent(join(archiveDir, path))
  if (!file) {
    // Retention may have been faster than this check.
    if (await rows.find(segment.id)) report.missingFiles.push(path)
    return
  }
  report.bytes += file.size
  if (!segment.isClosed) return
  if (file.size !== segment.bytes) {
    report.sizeMismatches.push({ path, indexBytes: segment.bytes, fileBytes: file.size })
  } else if (isDeep) {
    const detail = await findDamage(join(archiveDir, path), segment)
    if (detail !== undefined) report.damagedFiles.push({ path, detail })
  }
}

async function findDamage(path: string, segment: Segment): Promise<string | undefined> {
  const scan = await scanSegmentFile(path)
  if (scan.damage !== undefined) return scan.damage
  if (scan.bytes !== scan.fileBytes) return `the file is cut off after byte ${scan.bytes}`
  if (scan.initBytes !== segment.initBytes) return `expected ${segment.initBytes} bytes of head, got ${scan.initBytes}`
  const same = (a: number) => {
    const inFile = scan.fragments[a]
    const inIndex = segment.fragments[a]
    return inFile?.offset === inIndex?.offset && inFile?.bytes === inIndex?.bytes && inFile?.isKey === inIndex?.isKey
  }
  const count = Math.max(scan.fragments.length, segment.fragments.length)
  for (let i = 0; i < count; i++) if (!same(i)) return `fragment ${i} is not where the index says`
  return undefined
}

/** Recordings on the disk, relative to the archive's folder; other files are none of our business. */
async function listFiles(archiveDir: string): Promise<string[]> {
  const names = await readdir(join(archiveDir, 'cameras'), { recursive: true }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return []
      throw error
    },
  )
  return names.map((name) => `cameras/${name}`).filter((path) => findCameraOfPath(path) !== undefined)
}

async function statIfPresent(path: string) {
  try {
    return await stat(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

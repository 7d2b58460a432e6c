// How much space of a disk stays free.

export type DiskSpace = {
  readonly totalBytes: number
  /** As available to unprivileged programs. */
  readonly freeBytes: number
  /** Files that it holds, and how many more fit; undefined if they are not counted. */
  readonly totalFiles?: number
  readonly freeFiles?: number
}

/** What a file system says about itself: statvfs(3). */
export type FileSystemSize = {
  readonly bsize: number
  readonly frsize?: number
  readonly blocks: number
  readonly bavail: number
  readonly files: number
  readonly ffree: number
}

/** Counts from here on are negative numbers of 64 bits. */
const negative = 2 ** 63

/**
 * Undefined if the file system has no size, as those in memory without a limit and some network shares: then only
 * writing tells whether there is room. Blocks are counted in `frsize`; `bsize` is what is best read at once, which
 * differs where a virtual machine shares a folder of its host.
 */
export function readDiskSpace({ bsize, frsize, blocks, bavail, files, ffree }: FileSystemSize): DiskSpace | undefined {
  const unit = frsize || bsize
  if (blocks * unit === 0) return undefined
  const free = bavail >= negative ? 0 : bavail
  const space = { totalBytes: Math.max(blocks, free) * unit, freeBytes: free * unit }
  // Where files are not limited, either number may be anything.
  return files > 0 && ffree <= files ? { ...space, totalFiles: files, freeFiles: ffree } : space
}

const defaultShare = 0.05
const defaultMaxBytes = 2 * 2 ** 30

/** `minFree`: as configured; undefined for 5 % of the disk, at most 2 GiB. */
export function freeFloorBytes({ totalBytes }: Pick<DiskSpace, 'totalBytes'>, minFree: number | undefined): number {
  return minFree ?? Math.min(defaultMaxBytes, Math.floor(totalBytes * defaultShare))
}

const reservedFilesShare = 0.02
const maxReservedFiles = 2000

/** Files that must fit besides, so that recording never finds no room for one. */
export function reserveFiles({ totalFiles = 0 }: Pick<DiskSpace, 'totalFiles'>): number {
  return Math.min(maxReservedFiles, Math.ceil(totalFiles * reservedFilesShare))
}

const minReserveBytes = 8 * 2 ** 20
const minReserveShare = 0.02

/**
 * Space that retention keeps free above the minimum, so that recording does not reach it before the next run.
 * `recentBytes`: what was recorded since the last run.
 */
export function reserveBytes({ totalBytes }: Pick<DiskSpace, 'totalBytes'>, recentBytes: number): number {
  return Math.max(2 * recentBytes, Math.min(minReserveBytes, Math.floor(totalBytes * minReserveShare)))
}

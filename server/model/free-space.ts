// How much space of a disk stays free.

export type DiskSpace = {
  readonly totalBytes: number
  /** As available to unprivileged programs. */
  readonly freeBytes: number
}

const defaultShare = 0.05
const defaultMaxBytes = 2 * 2 ** 30

/** `minFree`: as configured; undefined for 5 % of the disk, at most 2 GiB. */
export function freeFloorBytes({ totalBytes }: Pick<DiskSpace, 'totalBytes'>, minFree: number | undefined): number {
  return minFree ?? Math.min(defaultMaxBytes, Math.floor(totalBytes * defaultShare))
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

// Paths in the archive: cameras/{camera}/{YYYY-MM-DD}/{HH-MM-SS.mmmZ}.mp4, with times in UTC. People can find a
// recording by name, and programs find all files of a camera or a day in one folder. Where several servers have cameras,
// the epoch of the lease follows the time (`….mmmZ.e17.mp4`), so that two servers never give a file the same name.

import type { CopyOwner } from '../model/segment-views.ts'

/**
 * Path of a segment's file relative to the archive's folder, from the wall clock of its first frame (Unix
 * milliseconds). `leaseEpoch`: see model/camera-lease.ts.
 */
export function segmentPath(cameraId: number, startMs: number, leaseEpoch?: number): string {
  const [day, time] = new Date(startMs).toISOString().split('T') as [string, string]
  const epoch = leaseEpoch === undefined ? '' : `.e${leaseEpoch}`
  return `${cameraFolder(cameraId)}/${day}/${time.replaceAll(':', '-')}${epoch}.mp4`
}

/** Relative to the archive's folder. */
export function cameraFolder(cameraId: number): string {
  return `cameras/${cameraId}`
}

const pattern = /^cameras\/(\d{1,15})\/(\d{4}-\d\d-\d\d)\/(\d\d)-(\d\d)-(\d\d\.\d{3}Z)(?:\.e(\d{1,10}))?(?:-\d+)?\.mp4$/

/** The camera of a file, or undefined for a path that `segmentPath` does not create. */
export function findCameraOfPath(path: string): number | undefined {
  const match = pattern.exec(path)
  return match ? Number(match[1]) : undefined
}

/** The time in a path that `segmentPath` creates, in Unix milliseconds. NaN for other paths. */
export function startOfPath(path: string): number {
  const [, , day, hour, minute, second] = pattern.exec(path) ?? []
  return Date.parse(`${day}T${hour}:${minute}:${second}`)
}

/** The epoch of the lease under which the file was recorded; undefined if there was none. */
export function leaseEpochOfPath(path: string): number | undefined {
  const epoch = pattern.exec(path)?.[6]
  return epoch === undefined ? undefined : Number(epoch)
}

/**
 * The name of a copy in another place. It differs from all earlier names of the recording, so that a late deletion of one
 * of those never meets it; and those of the server, odd, from those of commands, even, so that neither deletes the other's.
 */
export function nextPath(path: string, owner: CopyOwner): string {
  const [, base, attempt = '0'] = /^(.*?Z(?:\.e\d+)?)(?:-(\d+))?\.mp4$/.exec(path) ?? []
  const next = Number(attempt) + 1
  return base === undefined ? path : `${base}-${next % 2 === (owner === 'server' ? 1 : 0) ? next : next + 1}.mp4`
}

/**
 * An alternative name for the same time. A clock that was set back may repeat a time, and a file is never overwritten.
 * `attempt` counts from 1.
 */
export function alternativePath(path: string, attempt: number): string {
  return path.replace(/\.mp4$/, `-${attempt}.mp4`)
}

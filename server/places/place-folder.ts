// Tells the folder of a place from an empty mount point, or from another disk, in its place: it contains a marker file
// with the mark of the place.

import { randomBytes } from 'node:crypto'
import { readFile, rename, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../base/clock.ts'
import { pause } from '../base/pause.ts'
import { syncFolder } from '../base/sync-folder.ts'
import { type DiskSpace, readDiskSpace } from '../model/free-space.ts'
import type { Place } from '../model/place.ts'

export const markerName = 'nightjar-archive.txt'

const markerText = `This folder holds the recordings of a Nightjar server.
The server records only where this file is, so that nothing is written to the folder below when a disk is not mounted.
`

/** 128 random bits. */
export function createMark(): string {
  return randomBytes(16).toString('hex')
}

/**
 * The mark of a folder. Undefined if it is no place, or cannot be read; empty if its marker file is from a version that
 * knew only one place.
 */
export async function readMark(folder: string): Promise<string | undefined> {
  const text = await readFile(join(folder, markerName), 'utf8').catch(() => undefined)
  return text === undefined ? undefined : parseMark(text)
}

/** Empty if the marker is from a version that knew only one place. */
export function parseMark(marker: string): string {
  return /^Mark: ([0-9a-f]{32})$/m.exec(marker)?.[1] ?? ''
}

export function writeMarker(mark: string): string {
  return `${markerText}Mark: ${mark}\n`
}

export async function isPresent({ folder, mark }: Pick<Place, 'folder' | 'mark'>): Promise<boolean> {
  const found = await readMark(folder)
  return found === mark || found === ''
}

/** How often to check for a disk that is not mounted. */
const retryIntervalMs = 5000

/** Resolves when one of the places is there, or when `signal` aborts. */
export async function waitForPlace(
  places: { listPresent(): Promise<readonly Place[]> },
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted && (await places.listPresent()).length === 0) {
    await pause(clock, retryIntervalMs, signal)
  }
}

/**
 * Makes the folder a place and syncs the marker. A marker file that is there is replaced at once. Throws the system's
 * error.
 */
export async function markFolder(folder: string, mark: string): Promise<void> {
  const path = join(folder, markerName)
  await writeFile(`${path}.new`, writeMarker(mark), { mode: 0o640, flush: true })
  await rename(`${path}.new`, path)
  await syncFolder(folder)
}

/** How full the disk of a folder is; see `readDiskSpace`. Throws the system's error. */
export async function measureDisk(folder: string): Promise<DiskSpace | undefined> {
  return readDiskSpace(await statfs(folder))
}

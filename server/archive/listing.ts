// Lists the files on the disk one folder at a time, because a month of footage has millions of files. Unknown names are
// skipped.

import type { PlaceFiles } from '../places/place-files.ts'
import { cameraFolder, findCameraOfPath } from './layout.ts'

export type Day = {
  /** YYYY-MM-DD in UTC, the folder's name. */
  readonly name: string
  readonly startMs: number
  readonly endMs: number
}

const dayMs = 86_400_000

export function dayOf(ms: number): Day {
  const startMs = Math.floor(ms / dayMs) * dayMs
  return { name: new Date(startMs).toISOString().slice(0, 10), startMs, endMs: startMs + dayMs }
}

/** Cameras that have a folder, in the order of their ids. */
export async function listCameraFolders(files: PlaceFiles): Promise<number[]> {
  const names = await files.list('cameras')
  return names
    .filter((name) => /^\d{1,15}$/.test(name))
    .map(Number)
    .sort((a, b) => a - b)
}

/** Days for which a camera has folders, oldest first. */
export async function listDays(files: PlaceFiles, cameraId: number): Promise<Day[]> {
  const names = await files.list(cameraFolder(cameraId))
  const days = names.filter((name) => /^\d{4}-\d\d-\d\d$/.test(name)).map((name) => dayOf(Date.parse(name)))
  // A name such as 2026-02-31 is no valid day.
  return days.filter(({ name }) => names.includes(name)).sort((a, b) => a.startMs - b.startMs)
}

/** Paths of recordings relative to the archive's folder, in their order. */
export async function listDayFiles(files: PlaceFiles, cameraId: number, day: string): Promise<string[]> {
  const folder = `${cameraFolder(cameraId)}/${day}`
  const names = await files.list(folder)
  return names
    .map((name) => `${folder}/${name}`)
    .filter((path) => findCameraOfPath(path) === cameraId)
    .sort()
}

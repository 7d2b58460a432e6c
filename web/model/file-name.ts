// File names for what the user saves from a camera.

import type { LocalTime } from './zone.ts'

/** For instance `Front door 2026-11-21 08.05.12.jpg`, which sorts by time and is valid on every system. */
export function writeFileName(
  camera: string,
  { year, month, day, hour, minute, second }: LocalTime,
  extension: string,
): string {
  const two = (value: number) => String(value).padStart(2, '0')
  const name = camera
    .replaceAll(/[\p{Cc}<>:"/\\|?*]/gu, ' ')
    .replaceAll(/\s+/g, ' ')
    .replace(/^[. ]+/, '')
    .trim()
  const time = `${year}-${two(month)}-${two(day)} ${two(hour)}.${two(minute)}.${two(second)}`
  return `${Array.from(name).slice(0, 80).join('').trim() || 'Camera'} ${time}.${extension}`
}

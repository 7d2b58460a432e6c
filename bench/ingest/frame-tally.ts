// Which of a camera's pictures are in its recorded files: every picture carries its number, so a missing one cannot hide.

import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { listFrameCounters } from '../../test/fake-camera/frame-counter.ts'

export type FrameTally = {
  /** Pictures that must be there: from the first recorded to the last due. */
  readonly expected: number
  readonly written: number
  readonly lost: number
}

/**
 * Counts the pictures from `from` to before `to` (numbers, as the camera counted them when it sent them). Those before the
 * first recorded one are not expected: a recording begins at a key frame, some time after the camera began to send. When
 * nothing is recorded, all are lost.
 */
export function tallyFrames(numbers: Iterable<number>, from: number, to: number): FrameTally {
  const found = new Set<number>()
  for (const number of numbers) if (number >= from && number < to) found.add(number)
  let first = to
  for (const number of found) first = Math.min(first, number)
  const expected = found.size === 0 ? to - from : to - first
  return { expected, written: found.size, lost: expected - found.size }
}

export function addTallies(tallies: readonly FrameTally[]): FrameTally {
  const add = (key: keyof FrameTally) => tallies.reduce((total, tally) => total + tally[key], 0)
  return { expected: add('expected'), written: add('written'), lost: add('lost') }
}

/** The numbers of all pictures in the MP4 files of a folder that were written to since `sinceMs` (Unix), whole or not. */
export async function readFrameNumbers(folder: string, sinceMs = 0): Promise<number[]> {
  const names = await readdir(folder, { recursive: true })
  const numbers: number[] = []
  for (const name of names.filter((each) => each.endsWith('.mp4')).sort()) {
    const path = join(folder, name)
    if ((await stat(path)).mtimeMs < sinceMs) continue
    for (const { frameNumber } of listFrameCounters(await readFile(path))) numbers.push(frameNumber)
  }
  return numbers
}

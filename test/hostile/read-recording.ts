// Reads the frame numbers from a camera's files; the fake camera writes one into each frame (frame-counter.ts).

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { listFrameCounters } from '../fake-camera/frame-counter.ts'

export async function readRecordedNumbers(
  dataDir: string,
  cameraId: number,
): Promise<{ readonly files: number; readonly numbers: readonly number[] }> {
  const folder = join(dataDir, 'archive', 'cameras', String(cameraId))
  const names = await readdir(folder, { recursive: true }).catch(() => [] as string[])
  const files = names.filter((name) => name.endsWith('.mp4')).sort()
  const numbers: number[] = []
  for (const name of files) {
    for (const { frameNumber } of listFrameCounters(await readFile(join(folder, name)))) numbers.push(frameNumber)
  }
  return { files: files.length, numbers }
}

// The files of a server that has stopped, as its own check and as a foreign program see them.

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { probe } from '../e2e/media-probe.ts'
import { listFrameCounters } from '../fake-camera/frame-counter.ts'
import type { ServerUnderTest } from '../server-under-test.ts'

export type CheckedCamera = {
  readonly id: number
  readonly stream: string
  readonly isJpeg: boolean
  /** Its pictures may hold rubbish that nobody could tell from a picture. */
  readonly isSpoilt: boolean
}

export type CheckOptions = { readonly probedFiles: number; readonly random: () => number }

export async function checkFiles(
  server: ServerUnderTest,
  cameras: readonly CheckedCamera[],
  { probedFiles, random }: CheckOptions,
): Promise<{ readonly files: number; readonly complaints: readonly string[] }> {
  const complaints: string[] = []
  const check = await server.command<{ ok: boolean; files: number }>('check', '--deep').catch((error) => {
    complaints.push(`check: ${(error as { stdout?: string }).stdout ?? error}`)
    return { files: 0 }
  })
  const all: { readonly camera: CheckedCamera; readonly file: string }[] = []
  for (const camera of cameras) {
    const files = await listFiles(join(server.dataDir, 'archive', 'cameras', String(camera.id)))
    all.push(...files.map((file) => ({ camera, file })))
    if (!camera.isJpeg && !camera.isSpoilt) complaints.push(...(await findRepeated(camera, files)))
  }
  const chosen = all.sort(() => random() - 0.5).slice(0, probedFiles)
  const probeNext = async (): Promise<void> => {
    for (let next = chosen.pop(); next; next = chosen.pop()) {
      const { camera, file } = next
      const wrong = await findFault(file, camera.isSpoilt)
      if (wrong) complaints.push(`${camera.stream}, ${file}: ${wrong}`)
    }
  }
  await Promise.all([probeNext(), probeNext()])
  return { files: check.files, complaints }
}

async function listFiles(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true })
  return names
    .filter((name) => name.endsWith('.mp4'))
    .map((name) => join(folder, name))
    .sort()
}

/** Every picture carries its number: none is recorded twice, none before its predecessor. */
async function findRepeated({ stream }: CheckedCamera, files: readonly string[]): Promise<string[]> {
  let last = -1
  for (const file of files) {
    for (const { frameNumber } of listFrameCounters(await readFile(file))) {
      if (frameNumber <= last) return [`${stream}, ${file}: picture ${frameNumber} follows ${last}`]
      last = frameNumber
    }
  }
  return []
}

async function findFault(file: string, isSpoilt: boolean): Promise<string | undefined> {
  try {
    const { video, complaints } = await probe(file)
    if (!video || video.packets.length === 0) return 'no video'
    if (!video.packets[0]!.isKey) return 'begins without a key frame'
    const unordered = video.packets.findIndex(
      (packet, i) => i > 0 && packet.dtsSeconds <= video.packets[i - 1]!.dtsSeconds,
    )
    if (unordered > 0) return `picture ${unordered} is not after the one before`
    return complaints === '' || isSpoilt ? undefined : complaints
  } catch (error) {
    return (error as Error).message
  }
}

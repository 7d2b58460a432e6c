// The disk under the server's recordings and what can happen to it. With the right to mount it is a small file system in
// memory of its own; without, a folder that can only go away and come back, and writes that fail.

import { spawnSync } from 'node:child_process'
import { mkdirSync, statfsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Mounts, openMounts, whyNoMounts } from '../integration/mounts.ts'

export type ServerDisk = {
  /** Where the recordings go. */
  readonly archiveDir: string
  readonly canBeFull: boolean
  /** Other files take all that is free. */
  fill(): void
  free(): Promise<void>
  /** The folder of the recordings is not where it was; files that are open stay open. */
  takeAway(): Promise<void>
  bringBack(): Promise<void>
}

const megabytes = 192

/** `after` is told what to do at the end. */
export function openServerDisk(folder: string, after: (end: () => void) => void): ServerDisk {
  const canBeFull = whyNoMounts() === false
  let root = join(folder, 'disk')
  if (canBeFull) {
    const mounts: Mounts = openMounts({ after })
    root = join(mounts.folder, 'disk')
    mounts.mountMemory(root, megabytes)
  }
  const archiveDir = join(root, 'archive')
  const ballast = join(root, 'ballast')
  const elsewhere = join(root, 'elsewhere')
  mkdirSync(archiveDir, { recursive: true })
  return {
    archiveDir,
    canBeFull,
    fill() {
      // The server writes meanwhile, so that less may be free than was a moment ago.
      for (let attempt = 1; ; attempt++) {
        const { bavail, bsize } = statfsSync(root)
        const { status, stderr } = spawnSync('fallocate', ['-l', String(bavail * bsize), ballast], { encoding: 'utf8' })
        if (status === 0) return
        if (attempt === 10) throw new Error(`fallocate: ${stderr}`)
      }
    },
    free: () => rm(ballast, { force: true }),
    takeAway: () => rename(archiveDir, elsewhere),
    async bringBack() {
      // Whatever was made in its place is nothing that should be there: then this fails.
      await rename(elsewhere, archiveDir)
    },
  }
}

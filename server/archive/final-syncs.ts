// Syncs files and treats a failed sync as final. Linux marks pages that it could not write as clean, so a later sync of
// the same file succeeds and proves nothing. The content has to be written again to a new file.

import { type FileHandle, open, rename, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { AppError } from '../base/error.ts'
import { succeedsIfSupported } from '../base/sync-folder.ts'
import { scanSegmentFile } from './segment-scan.ts'

export class FinalSyncs {
  readonly #sync: (file: FileHandle) => Promise<void>
  /** Full paths of files that must not be synced again. */
  readonly #failed = new Set<string>()

  /** `sync`: replaced in tests. */
  constructor(sync = (file: FileHandle) => file.datasync()) {
    this.#sync = sync
  }

  /**
   * Ensures that the first `bytes` of the recording, which end with a fragment, are on the disk under the same name.
   * Throws the system's error. After that, another call tries again with a new copy.
   */
  async cut(path: string, { bytes, fileBytes }: { readonly bytes: number; readonly fileBytes: number }): Promise<void> {
    if (!this.#failed.has(path)) {
      await using file = await open(path, 'r+')
      if (bytes < fileBytes) await file.truncate(bytes)
      if (await this.#succeeds(file)) return
      this.#failed.add(path)
    }
    await this.#replace(path, bytes)
    this.#failed.delete(path)
  }

  async #succeeds(file: FileHandle): Promise<boolean> {
    try {
      await this.#sync(file)
      return true
    } catch {
      return false // copying reports what is wrong with the disk
    }
  }

  /** Syncs by copying, because all pages of a copy are still to be written. */
  async #replace(path: string, bytes: number): Promise<void> {
    const copy = `${path}.copy`
    await unlink(copy).catch(ignoreMissing)
    try {
      await this.#copy(path, copy, bytes)
      // The system may have dropped the pages that it could not write, and may have read other data from the disk.
      const scan = await scanSegmentFile(copy, { isVerified: true })
      if (scan.bytes !== bytes) throw new AppError('corrupt', `${path} changed while it was copied`)
      await rename(copy, path)
    } catch (error) {
      await unlink(copy).catch(() => {})
      throw error
    }
    await using folder = await open(dirname(path), 'r')
    await succeedsIfSupported(this.#sync(folder))
  }

  async #copy(from: string, to: string, bytes: number): Promise<void> {
    await using source = await open(from, 'r')
    await using target = await open(to, 'wx', 0o640)
    const chunk = new Uint8Array(Math.min(bytes, 1024 * 1024))
    for (let at = 0; at < bytes; ) {
      const { bytesRead } = await source.read(chunk, 0, Math.min(chunk.length, bytes - at), at)
      if (bytesRead === 0) throw new AppError('corrupt', `${from} ends at byte ${at}`)
      const { bytesWritten } = await target.write(chunk, 0, bytesRead, at)
      if (bytesWritten < bytesRead) throw new AppError('unavailable', 'the disk is full')
      at += bytesRead
    }
    await this.#sync(target)
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}

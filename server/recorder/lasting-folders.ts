// The folders of an archive, made where they are missing, with names that last: a file in a folder whose own name is
// lost with the power cannot be found.

import { mkdir, rmdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makeFolder } from '../base/make-folder.ts'
import { syncFolder } from '../base/sync-folder.ts'

/** The operations of the disk; an argument, so that tests can make each of them fail. */
export type FolderDisk = {
  /** False when it was there. */
  make(folder: string): Promise<boolean>
  /** Fails when something is in it. */
  remove(folder: string): Promise<void>
  /** Makes the names in the folder last. */
  sync(folder: string): Promise<void>
}

/**
 * Folders that are remembered: one that was forgotten is looked at again. Archives have one for each camera and day.
 */
const maxLasting = 10_000

export class LastingFolders {
  readonly #root: string
  readonly #disk: FolderDisk
  /** Whichever was used longest ago comes first. */
  readonly #lasting = new Set<string>()
  /** Folders whose names the disk did not confirm: another sync of the folder above would prove nothing. */
  readonly #unconfirmed = new Set<string>()
  readonly #running = new Map<string, Promise<void>>()

  /** `root`: the archive's folder, whose own name is not synced. */
  constructor(root: string, disk = nodeFolders) {
    this.#root = root
    this.#disk = disk
  }

  /**
   * Makes the folder, and those above it. Throws the system's error. Calls for the same folder at the same time share
   * one answer.
   */
  ensure(folder: string): Promise<void> {
    if (this.#lasting.has(folder)) {
      this.#remember(folder)
      return Promise.resolve()
    }
    let running = this.#running.get(folder)
    if (!running) {
      running = this.#ensure(folder).finally(() => this.#running.delete(folder))
      this.#running.set(folder, running)
    }
    return running
  }

  /** The folder is gone, or one above it. */
  forget(folder: string): void {
    for (let each = folder; this.#isInside(each); each = dirname(each)) this.#lasting.delete(each)
  }

  async #ensure(folder: string): Promise<void> {
    if (!this.#isInside(folder)) {
      await makeFolder(folder, folderMode)
      return
    }
    const parent = dirname(folder)
    await this.ensure(parent)
    // The system writes a name again only when it is made again. The folder is empty, since it was never used.
    if (this.#unconfirmed.has(folder)) await this.#removeAgain(folder)
    const isNew = await this.#disk.make(folder).catch((error: unknown) => {
      // The folder above may have been removed, or never was one: the next attempt looks again.
      this.forget(parent)
      throw error
    })
    try {
      // A folder that existed is synced, too: the process that made it may have died before the sync.
      await this.#disk.sync(parent)
    } catch (error) {
      if (isNew) {
        this.#unconfirmed.add(folder)
        await this.#removeAgain(folder).catch(() => {})
      }
      throw error
    }
    this.#remember(folder)
  }

  #remember(folder: string): void {
    this.#lasting.delete(folder)
    this.#lasting.add(folder)
    const [oldest] = this.#lasting
    if (oldest !== undefined && this.#lasting.size > maxLasting) this.#lasting.delete(oldest)
  }

  async #removeAgain(folder: string): Promise<void> {
    await this.#disk.remove(folder)
    this.#unconfirmed.delete(folder)
  }

  #isInside(folder: string): boolean {
    return folder.length > this.#root.length && folder.startsWith(this.#root)
  }
}

const folderMode = 0o750

const nodeFolders: FolderDisk = {
  async make(folder) {
    try {
      await mkdir(folder, { mode: folderMode })
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
      throw error
    }
  },
  async remove(folder) {
    await rmdir(folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
    })
  },
  sync: syncFolder,
}

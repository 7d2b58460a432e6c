// Creates the missing folders of an archive and makes their names durable. A file cannot be found if the name of its
// folder is lost in a power failure.

import { mkdir, rmdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makeFolder } from '../base/make-folder.ts'
import { syncFolder } from '../base/sync-folder.ts'

/** The operations of the disk. An option, so that tests can make each of them fail. */
export type FolderDisk = {
  /** Returns false if the folder existed. */
  make(folder: string): Promise<boolean>
  /** Fails if the folder is not empty. */
  remove(folder: string): Promise<void>
  /** Makes the names in the folder durable. */
  sync(folder: string): Promise<unknown>
}

/**
 * The number of remembered folders. A folder that was forgotten is checked again. Archives have one for each camera and
 * day.
 */
const maxRemembered = 10_000

export class DurableFolders {
  readonly #root: string
  readonly #disk: FolderDisk
  /** Least recently used folders come first. */
  readonly #durable = new Set<string>()
  /** Folders whose names the disk did not confirm. Another sync of the parent folder would prove nothing. */
  readonly #unconfirmed = new Set<string>()
  readonly #running = new Map<string, Promise<void>>()

  /** `root`: the archive's folder, whose own name is not synced. */
  constructor(root: string, disk = nodeFolders) {
    this.#root = root
    this.#disk = disk
  }

  /**
   * Creates the folder and its parents. Throws the system's error. Concurrent calls for the same folder share one
   * result.
   */
  ensure(folder: string): Promise<void> {
    if (this.#durable.has(folder)) {
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

  /** Forgets the folder and its parents after one of them was removed. */
  forget(folder: string): void {
    for (let each = folder; this.#isInside(each); each = dirname(each)) this.#durable.delete(each)
  }

  async #ensure(folder: string): Promise<void> {
    if (!this.#isInside(folder)) {
      await makeFolder(folder, folderMode)
      return
    }
    const parent = dirname(folder)
    await this.ensure(parent)
    // The system writes a name again only if the folder is created again. The folder is empty, because it was never
    // used.
    if (this.#unconfirmed.has(folder)) await this.#removeAgain(folder)
    const isNew = await this.#disk.make(folder).catch((error: unknown) => {
      // The parent may have been removed, or may not be a folder. The next attempt checks it again.
      this.forget(parent)
      throw error
    })
    try {
      // The parent of an existing folder is synced too, because the process that created it may have died before the
      // sync.
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
    this.#durable.delete(folder)
    this.#durable.add(folder)
    const [oldest] = this.#durable
    if (oldest !== undefined && this.#durable.size > maxRemembered) this.#durable.delete(oldest)
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

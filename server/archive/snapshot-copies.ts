// Copies of the cameras' snapshots in a bucket, for lists to show while a camera is offline and the local disk is new.

import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../base/error.ts'
import { type BucketFiles, snapshotFolder } from '../places/bucket/bucket-files.ts'
import type { Places } from '../places/places.ts'

export type SnapshotCopiesOptions = {
  /** Whether this server has the camera. */
  readonly isOwn: (cameraId: number) => boolean
  /** Contains `{cameraId}.jpg`. */
  readonly folder: string
  readonly places: Places
  readonly cameras: { list(): Promise<readonly { readonly id: number }[]> }
}

const maxBytes = 8 * 2 ** 20

export class SnapshotCopies {
  readonly #options: SnapshotCopiesOptions

  constructor(options: SnapshotCopiesOptions) {
    this.#options = options
  }

  /**
   * Copies the snapshots that are newer than `sinceMs` (Unix milliseconds), and deletes those of cameras that do not exist.
   * Throws 'unavailable', and the system's error.
   */
  async update(bucketId: number, sinceMs: number): Promise<void> {
    const { folder, places, cameras, isOwn } = this.#options
    const bucket = places.bucketOf(bucketId)
    // Before the cameras, so that none that is added meanwhile counts as gone.
    const stored = await bucket.list(snapshotFolder)
    const names = new Map((await cameras.list()).map(({ id }) => [`${id}.jpg`, id]))
    for (const name of await readdir(folder).catch(ignoreMissing)) {
      const id = names.get(name)
      // Of a camera that another server has, that one copies a newer image.
      if (id === undefined || !isOwn(id)) continue
      const path = join(folder, name)
      const { mtimeMs } = await stat(path)
      if (mtimeMs > sinceMs) await bucket.store(`${snapshotFolder}/${name}`, await readFile(path), 'image/jpeg')
    }
    const old = stored.filter((name) => !names.has(name))
    await bucket.removeAll(old.map((name) => `${snapshotFolder}/${name}`))
  }

  /** Undefined if there is none, or its store is away. */
  async find(cameraId: number): Promise<Uint8Array | undefined> {
    const { places } = this.#options
    for (const { id } of places.buckets) {
      const jpeg = await load(places.bucketOf(id), cameraId)
      if (jpeg) return jpeg
    }
    return undefined
  }
}

async function load(bucket: BucketFiles, cameraId: number): Promise<Uint8Array | undefined> {
  try {
    return await bucket.load(`${snapshotFolder}/${cameraId}.jpg`, maxBytes)
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}

/** Before the first snapshot, there is no folder. */
function ignoreMissing(error: NodeJS.ErrnoException): string[] {
  if (error.code === 'ENOENT') return []
  throw error
}

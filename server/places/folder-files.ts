// A folder as a place.

import { access, constants, type FileHandle, open, readdir, stat, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { crc32 } from 'node:zlib'
import { AppError } from '../base/error.ts'
import { makeFolder } from '../base/make-folder.ts'
import { syncFolder } from '../base/sync-folder.ts'
import type { DiskSpace } from '../model/free-space.ts'
import type { Place } from '../model/place.ts'
import type { FootageFile, PlaceFiles, StateOfPlace } from './place-files.ts'
import { isPresent, markerName, measureDisk, readMark } from './place-folder.ts'

const bufferBytes = 2 ** 20
/** Node runs four file operations at a time in its thread pool. */
const deletionsAtOnce = 4

export class FolderFiles implements PlaceFiles {
  readonly #place: Pick<Place, 'folder' | 'mark'>

  constructor(place: Pick<Place, 'folder' | 'mark'>) {
    this.#place = place
  }

  async findState(): Promise<StateOfPlace> {
    const { folder, mark } = this.#place
    const found = await readMark(folder)
    if (found === undefined) return { state: 'away' }
    if (found !== mark && found !== '') return { state: 'foreign' }
    const isWritable = await access(folder, constants.W_OK).then(
      () => true,
      () => false,
    )
    return { state: isWritable ? 'ready' : 'read_only' }
  }

  /** For an empty mount point, the system would report the disk below it. */
  async measure(): Promise<DiskSpace | undefined> {
    if (await isPresent(this.#place)) return measureDisk(this.#place.folder)
    throw new AppError('unavailable', 'the recordings folder is missing or empty: check that its disk is mounted')
  }

  async unmark(): Promise<void> {
    const { folder, mark } = this.#place
    if ((await readMark(folder)) === mark) await unlink(join(folder, markerName))
  }

  async open(path: string): Promise<FootageFile> {
    try {
      return await open(this.#full(path), 'r')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      if (await isPresent(this.#place))
        throw new AppError('not_found', 'this recording has been deleted', { cause: error })
      throw new AppError('unavailable', 'the disk of this recording is not available', { cause: error })
    }
  }

  async size(path: string): Promise<number | undefined> {
    try {
      return (await stat(this.#full(path))).size
    } catch (error) {
      return ignoreMissing(error)
    }
  }

  async list(folder: string): Promise<string[]> {
    try {
      return await readdir(this.#full(folder))
    } catch (error) {
      return ignoreMissing(error) ?? []
    }
  }

  async remove(path: string): Promise<void> {
    try {
      await unlink(this.#full(path))
    } catch (error) {
      ignoreMissing(error)
      // If the disk is not mounted, the file still exists there.
      if (!(await isPresent(this.#place)))
        throw new AppError('unavailable', 'the disk of the recording is not available', { cause: error })
    }
  }

  async removeAll(paths: readonly string[]): Promise<ReadonlyMap<string, unknown>> {
    const failed = new Map<string, unknown>()
    for (let i = 0; i < paths.length; i += deletionsAtOnce) {
      const some = paths.slice(i, i + deletionsAtOnce)
      await Promise.all(some.map((path) => this.remove(path).catch((error) => failed.set(path, error))))
    }
    return failed
  }

  async put(path: string, source: FootageFile, bytes: number): Promise<boolean> {
    const fullPath = this.#full(path)
    const folder = dirname(fullPath)
    await makeFolder(folder, 0o750)
    if (await isBeginning(fullPath, source)) await unlink(fullPath)
    let file: FileHandle
    try {
      file = await open(fullPath, 'wx+', 0o640)
    } catch (error) {
      // Retention deletes folders that have become empty: under the next name, there will be one again.
      if (['EEXIST', 'ENOENT'].includes((error as NodeJS.ErrnoException).code!)) return false
      throw error
    }
    try {
      const original = await sum(source, file)
      if (original.bytes !== bytes)
        throw new AppError('corrupt', `the file has ${original.bytes} bytes, the index says ${bytes}: nightjar check`)
      await file.datasync()
      const copied = await sum(file)
      if (copied.bytes !== bytes || copied.checksum !== original.checksum)
        throw new AppError('corrupt', 'the copy differs: the disk does not store what is written')
      await this.#syncFolders(folder)
      return true
    } catch (error) {
      await unlink(fullPath).catch(() => {})
      throw error
    } finally {
      await file.close()
    }
  }

  /** Up to the folder of the place, because any of them may be new. */
  async #syncFolders(folder: string): Promise<void> {
    for (let each = folder; each.length >= this.#place.folder.length; each = dirname(each)) await syncFolder(each)
  }

  #full(path: string): string {
    return join(this.#place.folder, path)
  }
}

/** Whether the file exists and holds nothing but the beginning of `source`. */
async function isBeginning(path: string, source: FootageFile): Promise<boolean> {
  let file: FileHandle
  try {
    file = await open(path, 'r')
  } catch (error) {
    ignoreMissing(error)
    return false
  }
  await using _ = file
  return await beginsWith(source, file)
}

/** Whether `file` holds nothing but the beginning of `source`. */
export async function beginsWith(source: FootageFile, file: FootageFile): Promise<boolean> {
  const own = new Uint8Array(bufferBytes)
  const other = new Uint8Array(bufferBytes)
  for (let at = 0; ; ) {
    const { bytesRead } = await file.read(own, 0, bufferBytes, at)
    if (bytesRead === 0) return true
    const { bytesRead: length } = await source.read(other, 0, bytesRead, at)
    if (length < bytesRead || Buffer.compare(own.subarray(0, bytesRead), other.subarray(0, bytesRead)) !== 0)
      return false
    at += bytesRead
  }
}

/** Reads a file to its end, and copies it to `target`. */
async function sum(file: FootageFile, target?: FileHandle): Promise<{ bytes: number; checksum: number }> {
  const buffer = new Uint8Array(bufferBytes)
  let bytes = 0
  let checksum = 0
  for (;;) {
    const { bytesRead } = await file.read(buffer, 0, bufferBytes, bytes)
    if (bytesRead === 0) return { bytes, checksum }
    const read = buffer.subarray(0, bytesRead)
    checksum = crc32(read, checksum)
    if (target) await target.writeFile(read)
    bytes += bytesRead
  }
}

function ignoreMissing(error: unknown): undefined {
  const { code } = error as NodeJS.ErrnoException
  if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error
}

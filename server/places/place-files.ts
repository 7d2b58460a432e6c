// What holds the closed files of a place. Paths are relative to it, with '/' between their parts.

import type { DiskSpace } from '../model/free-space.ts'

/**
 * - `away`: there is no place in the folder: its disk is not mounted; or the store of a bucket cannot be reached
 * - `foreign`: it is another place, perhaps of another installation
 * - `silent`: its disk does not answer
 * - `refused`: the store refuses our requests
 */
export type PlaceState = 'ready' | 'away' | 'foreign' | 'read_only' | 'silent' | 'refused'

export type PlaceFiles = {
  findState(): Promise<StateOfPlace>
  /** It is no place any more, and can become another one. Throws 'unavailable', and the system's error. */
  unmark(): Promise<void>
  /** Undefined for what has no limit. Throws 'unavailable', and the system's error. */
  measure(): Promise<DiskSpace | undefined>
  /** Throws 'not_found' when the file was deleted, and 'unavailable' when the place is away. Reading throws them too. */
  open(path: string): Promise<FootageFile>
  /** Undefined if there is no such file. Throws 'unavailable', and the system's error. */
  size(path: string): Promise<number | undefined>
  /** Names of files and folders in a folder. Empty if it does not exist. Throws 'unavailable', and the system's error. */
  list(folder: string): Promise<string[]>
  /** A file that does not exist counts as deleted. Throws 'unavailable', and the system's error. */
  remove(path: string): Promise<void>
  /** Like `remove`. Returns the paths of files that could not be deleted, with the error of each. */
  removeAll(paths: readonly string[]): Promise<ReadonlyMap<string, unknown>>
  /**
   * Stores a copy of the first `bytes` of `source`, verifies it and makes it durable. Returns false if another file has
   * this name; a part of such a copy that an interruption left is replaced. Throws 'corrupt' if `source` has other bytes
   * or the copy differs, 'unavailable', and the system's error.
   */
  put(path: string, source: FootageFile, bytes: number): Promise<boolean>
}

export type StateOfPlace = {
  readonly state: PlaceState
  /** What is wrong, and what to do about it. */
  readonly detail?: string | undefined
}

/** A file that is read. A `FileHandle` is one. */
export type FootageFile = AsyncDisposable & {
  read(target: Uint8Array, offset: number, length: number, at: number): Promise<{ readonly bytesRead: number }>
  /** Fills the views in order. */
  readv(views: readonly Uint8Array[], at: number): Promise<{ readonly bytesRead: number }>
  stat(): Promise<{ readonly size: number }>
  close(): Promise<void>
}

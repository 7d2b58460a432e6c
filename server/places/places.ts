// Which places there are, and where their files are. One object on the main thread; commands have their own.

import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { systemClock } from '../base/clock.ts'
import { settlesWithin } from '../base/deadline.ts'
import { AppError } from '../base/error.ts'
import { isBucket, type Place } from '../model/place.ts'
import type { FileLocation } from '../model/segment-views.ts'
import { BlockCache, CachedFile } from './bucket/block-cache.ts'
import { BucketFiles } from './bucket/bucket-files.ts'
import { FolderFiles } from './folder-files.ts'
import type { FootageFile, PlaceFiles, StateOfPlace } from './place-files.ts'

/** A disk that does not answer within this time counts as away. */
const answerMs = 3000
const minCacheBytes = 16 * 2 ** 20

type Member = {
  readonly place: Place
  readonly files: PlaceFiles
  /** A check in progress. */
  check?: Promise<StateOfPlace> | undefined
}

/** Files in the folders of other servers. */
export type RemoteFiles = {
  /** At most `bytes` from `at` on, and the size of the file. Throws 'not_found' and 'unavailable'. */
  read(file: FileLocation, at: number, bytes: number): Promise<{ readonly data: Uint8Array; readonly size: number }>
}

export class Places {
  readonly #blocks: BlockCache
  readonly #remote: RemoteFiles | undefined
  #all: readonly Place[] = []
  #members: ReadonlyMap<number, Member> = new Map()

  /** `cacheBytes`: for parts of objects in buckets, and of files of other servers. */
  constructor(all: readonly Place[], cacheBytes = minCacheBytes, remote?: RemoteFiles) {
    this.#remote = remote
    this.#blocks = new BlockCache(cacheBytes)
    this.replace(all)
  }

  /** In the order of their ids. */
  get all(): readonly Place[] {
    return this.#all
  }

  /** Call it when the rows may have changed. Returns whether they have. */
  replace(all: readonly Place[]): boolean {
    if (isDeepStrictEqual(all, this.#all)) return false
    const before = this.#members
    this.#all = all
    this.#members = new Map(
      all.map((place) => {
        const old = before.get(place.id)
        const isSame = old?.place.folder === place.folder && old.place.mark === place.mark
        return [place.id, { place, files: isSame ? old.files : this.#open(place) }]
      }),
    )
    return true
  }

  /** Folders: where recorders write. */
  get folders(): readonly Place[] {
    return this.#all.filter((place) => !isBucket(place))
  }

  get buckets(): readonly Place[] {
    return this.#all.filter(isBucket)
  }

  /** Throws 'unavailable' for a place that is not known. */
  filesOf(placeId: number): PlaceFiles {
    return this.#find(placeId).files
  }

  /** Opens a file for reading, also of another server. Throws 'not_found' and 'unavailable'. */
  async open(file: FileLocation): Promise<FootageFile> {
    const { placeId, path } = file
    const remote = this.#remote
    if (this.#members.has(placeId) || !remote) return this.filesOf(placeId).open(path)
    const fetch = async (at: number, bytes: number) => (await remote.read(file, at, bytes)).data
    const find = async () => ({ size: (await remote.read(file, 0, 1)).size })
    // What was deleted is known at once, as it is for a file in a folder.
    await find()
    return new CachedFile({ key: `${placeId} ${path}`, fetch }, this.#blocks, find)
  }

  /** Throws 'unavailable' for a place that is not known, and 'internal' for a folder. */
  bucketOf(placeId: number): BucketFiles {
    const { place, files } = this.#find(placeId)
    if (files instanceof BucketFiles) return files
    throw new AppError('internal', `expected a bucket, got ${place.folder}`)
  }

  /** Throws 'unavailable' for a place that is not known, and 'internal' for a bucket. */
  folderOf(placeId: number): string {
    const { place } = this.#find(placeId)
    if (isBucket(place)) throw new AppError('internal', `expected a folder, got ${place.folder}`)
    return place.folder
  }

  /** The whole path of a file, or of a folder in a place. */
  pathOf({ placeId, path }: FileLocation): string {
    return join(this.folderOf(placeId), path)
  }

  /** A disk that hangs delays this by a few seconds, and occupies one thread. */
  async findState(placeId: number): Promise<StateOfPlace> {
    const member = this.#find(placeId)
    member.check ??= member.files.findState().finally(() => {
      member.check = undefined
    })
    const { check } = member
    return (await settlesWithin(check, answerMs, systemClock)) ? await check : { state: 'silent' }
  }

  /** Whether the disk of a place is there. Files of one that is away are not lost. */
  async isPresent(placeId: number): Promise<boolean> {
    if (!this.#members.has(placeId)) return false
    const { state } = await this.findState(placeId)
    return state === 'ready' || state === 'read_only'
  }

  /** Those whose disks are there. */
  async listPresent(): Promise<Place[]> {
    const present = await Promise.all(this.#all.map(({ id }) => this.isPresent(id)))
    return this.#all.filter((_, i) => present[i])
  }

  #open(place: Place): PlaceFiles {
    return isBucket(place) ? new BucketFiles(place, this.#blocks) : new FolderFiles(place)
  }

  #find(placeId: number): Member {
    const member = this.#members.get(placeId)
    if (!member) throw new AppError('unavailable', `place ${placeId} of the recordings is not known`)
    return member
  }
}

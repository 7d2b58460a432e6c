// A disk with a page cache, for tests: what is written is there for everybody at once, and lasts after a sync. A failed
// sync writes some of the pages and regards all of them as clean, as Linux does: a later one succeeds without them.

import { dirname } from 'node:path'

const pageBytes = 4096

type ModelFile = {
  /** What everybody reads while the machine has power. */
  cache: Buffer
  disk: Buffer
  /** Pages of the cache that a sync has to write. */
  dirty: Set<number>
  isLengthDirty: boolean
  name: 'dirty' | 'lasting' | 'lost'
  isRemoved: boolean
  hasFailedSync: boolean
  /** So far the disk has promised the file: it was synced, with its name, and no sync failed before. */
  promisedBytes: number
}

export class PageCacheModel {
  readonly #files = new Map<string, ModelFile>()
  readonly #random: () => number

  constructor(random: () => number) {
    this.#random = random
  }

  create(path: string): void {
    this.#files.set(path, {
      cache: Buffer.alloc(0),
      disk: Buffer.alloc(0),
      dirty: new Set(),
      isLengthDirty: true,
      name: 'dirty',
      isRemoved: false,
      hasFailedSync: false,
      promisedBytes: 0,
    })
  }

  /** One that fails has written any part. */
  write(path: string, position: number, bytes: Buffer, isFailing: boolean): void {
    const file = this.#files.get(path)!
    const written = isFailing ? bytes.subarray(0, Math.floor(bytes.length * this.#random())) : bytes
    const end = position + written.length
    if (end > file.cache.length) file.cache = Buffer.concat([file.cache, Buffer.alloc(end - file.cache.length)])
    written.copy(file.cache, position)
    for (let page = pageOf(position); page * pageBytes < end; page++) file.dirty.add(page)
    file.isLengthDirty = true
  }

  truncate(path: string, bytes: number, isFailing: boolean): void {
    if (isFailing) return
    const file = this.#files.get(path)!
    file.cache = Buffer.from(file.cache.subarray(0, bytes))
    for (const page of [...file.dirty]) if (page * pageBytes >= bytes) file.dirty.delete(page)
    file.isLengthDirty = true
  }

  sync(path: string, isFailing: boolean): void {
    const file = this.#files.get(path)!
    writePages(file, isFailing ? () => this.#random() < 0.5 : () => true)
    if (!isFailing || this.#random() < 0.5) writeLength(file)
    file.dirty.clear()
    file.isLengthDirty = false
    file.hasFailedSync ||= isFailing
    this.#promise(file)
  }

  syncFolder(folder: string, isFailing: boolean): void {
    for (const [path, file] of this.#files) {
      if (dirname(path) !== folder) continue
      if (file.name === 'dirty') file.name = isFailing ? 'lost' : 'lasting'
      if (isFailing) file.hasFailedSync ||= file.name === 'lost'
      this.#promise(file)
    }
  }

  remove(path: string, isFailing: boolean): void {
    if (!isFailing) this.#files.get(path)!.isRemoved = true
  }

  /** What everybody reads now, also after the death of the process. */
  cached(): Map<string, Buffer> {
    const found = [...this.#files].filter(([, { isRemoved }]) => !isRemoved)
    return new Map(found.map(([path, { cache }]) => [path, cache]))
  }

  /** What is left when the power fails: of what was not synced, anything. */
  afterPowerCut(): Map<string, Buffer> {
    const left = new Map<string, Buffer>()
    for (const [path, original] of this.#files) {
      const isGone = original.isRemoved || original.name === 'lost' || original.name === 'dirty'
      if (isGone && this.#random() < 0.5) continue
      const file = { ...original, disk: Buffer.from(original.disk) }
      writePages(file, () => this.#random() < 0.5)
      if (file.isLengthDirty && this.#random() < 0.5) writeLength(file)
      left.set(path, file.disk)
    }
    return left
  }

  /** Bytes of the file that the disk has promised to keep. */
  promisedBytes(path: string): number {
    return this.#files.get(path)?.promisedBytes ?? 0
  }

  hasFailedSync(path: string): boolean {
    return this.#files.get(path)?.hasFailedSync ?? false
  }

  #promise(file: ModelFile): void {
    const isWhole = file.dirty.size === 0 && !file.isLengthDirty
    if (isWhole && !file.hasFailedSync && file.name === 'lasting') file.promisedBytes = file.cache.length
  }
}

function pageOf(position: number): number {
  return Math.floor(position / pageBytes)
}

/** Writes those of the dirty pages that are chosen. */
function writePages(file: ModelFile, isChosen: () => boolean): void {
  const pages = [...file.dirty].filter(isChosen)
  const end = Math.min(file.cache.length, (Math.max(-1, ...pages) + 1) * pageBytes)
  if (end > file.disk.length) file.disk = Buffer.concat([file.disk, Buffer.alloc(end - file.disk.length)])
  for (const page of pages) file.cache.copy(file.disk, page * pageBytes, page * pageBytes, (page + 1) * pageBytes)
}

function writeLength(file: ModelFile): void {
  const { length } = file.cache
  const missing = Math.max(0, length - file.disk.length)
  file.disk = Buffer.concat([file.disk.subarray(0, length), Buffer.alloc(missing)])
}

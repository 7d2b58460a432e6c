// A bucket as a place: an object for each closed file, under the same path as in a folder.

import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { AppError } from '../../base/error.ts'
import type { Place } from '../../model/place.ts'
import type { FootageFile, PlaceFiles, StateOfPlace } from '../place-files.ts'
import { markerName, parseMark, writeMarker } from '../place-folder.ts'
import { type BlockCache, type BlockSource, CachedFile } from './block-cache.ts'
import { BucketRefusal } from './bucket-errors.ts'
import { BucketStore } from './bucket-store.ts'
import { parseBucketUrl } from './bucket-url.ts'

/** How long the state of a bucket is trusted, because each look is a request. */
const stateMs = 20_000
const readBytes = 2 ** 20
/** Contains the copies of snapshots. */
export const snapshotFolder = 'snapshots'

export class BucketFiles implements PlaceFiles {
  readonly #place: Pick<Place, 'id' | 'mark'>
  readonly #store: BucketStore
  readonly #cache: BlockCache
  #state: StateOfPlace | undefined
  #stateAtMs = 0

  constructor(place: Pick<Place, 'id' | 'folder' | 'mark'>, cache: BlockCache) {
    this.#place = place
    this.#store = new BucketStore(parseBucketUrl(place.folder))
    this.#cache = cache
  }

  async findState(): Promise<StateOfPlace> {
    if (this.#state && performance.now() - this.#stateAtMs < stateMs) return this.#state
    this.#state = await this.#findState()
    this.#stateAtMs = performance.now()
    return this.#state
  }

  async #findState(): Promise<StateOfPlace> {
    try {
      const found = await this.readMark()
      if (found === undefined) return { state: 'away', detail: `the bucket has no ${markerName}` }
      return found === this.#place.mark ? { state: 'ready' } : { state: 'foreign' }
    } catch (error) {
      const state = error instanceof BucketRefusal ? 'refused' : 'away'
      return { state, detail: (error as Error).message }
    }
  }

  /** Undefined if the bucket is no place. Throws 'unavailable'. */
  async readMark(): Promise<string | undefined> {
    try {
      return parseMark(Buffer.from(await this.load(markerName, 4096)).toString())
    } catch (error) {
      if (error instanceof AppError && error.kind === 'not_found') return undefined
      throw error
    }
  }

  /** Makes the bucket a place, after checking that objects can be stored, read, listed and deleted. Throws 'unavailable'. */
  async mark(): Promise<void> {
    const probe = `nightjar-probe-${this.#place.mark}`
    await this.store(probe, Buffer.from('probe'), 'text/plain')
    await this.#store.read(probe, 0, 5)
    await this.#store.list('cameras')
    await this.#store.remove(probe)
    await this.store(markerName, Buffer.from(writeMarker(this.#place.mark)), 'text/plain')
    this.#state = undefined
  }

  async unmark(): Promise<void> {
    if ((await this.readMark()) !== this.#place.mark) return
    const names = await this.list(snapshotFolder)
    await this.removeAll(names.map((name) => `${snapshotFolder}/${name}`))
    await this.remove(markerName)
  }

  /** Whether there are recordings. */
  async isUsed(): Promise<boolean> {
    return (await this.#store.list('cameras')).length > 0
  }

  async measure(): Promise<undefined> {}

  async open(path: string): Promise<FootageFile> {
    return new CachedFile(this.#source(path), this.#cache, async () => {
      const found = await this.#store.find(path)
      if (found) return { size: found.bytes }
      throw new AppError('not_found', 'this recording has been deleted')
    })
  }

  async size(path: string): Promise<number | undefined> {
    return (await this.#store.find(path))?.bytes
  }

  list(folder: string): Promise<string[]> {
    return this.#store.list(folder)
  }

  remove(path: string): Promise<void> {
    return this.#store.remove(path)
  }

  removeAll(paths: readonly string[]): Promise<ReadonlyMap<string, unknown>> {
    return this.#store.removeAll(paths)
  }

  /** Stores a small object, in place of an earlier one. Throws 'unavailable'. */
  async store(path: string, content: Uint8Array, type: string): Promise<void> {
    const md5 = createHash('md5').update(content).digest('base64')
    const open = () => Readable.from([content], { objectMode: false })
    await this.#store.write(path, open, { bytes: content.length, md5, type })
  }

  /** A small object. Throws 'not_found' and 'unavailable'. */
  load(path: string, maxBytes: number): Promise<Uint8Array> {
    return this.#store.read(path, 0, maxBytes)
  }

  async put(path: string, source: FootageFile, bytes: number): Promise<boolean> {
    const md5 = await hash(source, bytes)
    const before = await this.#store.find(path)
    if (before) return before.bytes === bytes && (await this.#holds(path, bytes, before.md5, md5))
    const open = () => Readable.from(readChunks(source, bytes), { objectMode: false, highWaterMark: readBytes })
    await this.#store.write(path, open, {
      bytes,
      md5: Buffer.from(md5, 'hex').toString('base64'),
      type: 'video/mp4',
    })
    const stored = await this.#store.find(path)
    if (stored?.bytes === bytes && (await this.#holds(path, bytes, stored.md5, md5))) return true
    await this.#store.remove(path)
    throw new AppError('corrupt', 'the object differs from the file that was sent')
  }

  /** Not every store, and no encryption with a key of its own, has the MD5 as ETag: then the object is read back. */
  async #holds(path: string, bytes: number, stored: string | undefined, md5: string): Promise<boolean> {
    if (stored === md5) return true
    const digest = createHash('md5')
    for (let at = 0; at < bytes; at += readBytes)
      digest.update(await this.#store.read(path, at, Math.min(readBytes, bytes - at)))
    return digest.digest('hex') === md5
  }

  #source(path: string): BlockSource {
    return { key: `${this.#place.id} ${path}`, fetch: (at, bytes) => this.#store.read(path, at, bytes) }
  }
}

async function* readChunks(source: FootageFile, bytes: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes; ) {
    const chunk = new Uint8Array(Math.min(readBytes, bytes - at))
    const { bytesRead } = await source.read(chunk, 0, chunk.length, at)
    if (bytesRead === 0)
      throw new AppError('corrupt', `the file has ${at} bytes, the index says ${bytes}: nightjar check`)
    yield chunk.subarray(0, bytesRead)
    at += bytesRead
  }
}

/** The MD5 in hexadecimal. Throws 'corrupt' if the file has another length. */
async function hash(source: FootageFile, bytes: number): Promise<string> {
  const { size } = await source.stat()
  if (size !== bytes)
    throw new AppError('corrupt', `the file has ${size} bytes, the index says ${bytes}: nightjar check`)
  const digest = createHash('md5')
  for await (const chunk of readChunks(source, bytes)) digest.update(chunk)
  return digest.digest('hex')
}

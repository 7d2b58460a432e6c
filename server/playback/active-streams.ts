// The recorded streams that are in memory. The user's rights are checked on every use. Idle streams are removed from
// memory and are created again from their row and the footage.

import { createHash } from 'node:crypto'
import type { Clock } from '../base/clock.ts'
import { AppError } from '../base/error.ts'
import { Semaphore } from '../base/semaphore.ts'
import { SerialQueue } from '../base/serial-queue.ts'
import { RecordedStream } from './recorded-stream.ts'
import type { StreamFootage } from './stream-part.ts'
import type { StreamChange, StreamCredential, StreamRow, StreamRows } from './stream-rows.ts'

export type ActiveStreamsOptions = {
  readonly catalog: StreamFootage
  readonly streams: StreamRows
  readonly clock: Clock
  /** The time that decides which streams are removed; by default that of the clock. */
  deletionMs?(): number
  /** Returns whether the user may see recordings of the camera at the moment. */
  canView(userId: number, cameraId: number): Promise<boolean>
  /** Returns whether the credential that created the stream is still valid. */
  isLive(credential: StreamCredential): boolean | Promise<boolean>
  /** Returns whether recording is enabled, so that a stream without end may grow. Default: always. */
  isRecording?(cameraId: number): Promise<boolean>
  /** Limit for all streams together. An entry takes about 0.6 kB, the entries of a day 12 MB. */
  readonly maxEntriesInMemory?: number
}

export type ActiveStream = {
  readonly id: string
  row: StreamRow
  readonly stream: RecordedStream
  /** Changes of its row, one after the other. */
  readonly changes: SerialQueue
  usedAtMs: number
  savedAtMs: number
}

const streamLifetimeMs = 24 * 3_600_000

/** Streams that were not requested for this long are removed from memory. Their rows remain. */
const idleMs = 5 * 60_000
/** More than a user plays at once. Players that create a new stream for each seek abandon the old ones. */
const maxStreamsOfUser = 100
const maxStreamsInMemory = 1000
const saveIntervalMs = 10_000
const cleaningIntervalMs = 3_600_000

export class ActiveStreams {
  readonly #options: ActiveStreamsOptions
  /** By id, least recently used first. */
  readonly #active = new Map<string, ActiveStream>()
  readonly #updates = new Semaphore({
    maxRunning: 8,
    maxWaiting: 1000,
    refusal: 'too many recorded streams are requested at once',
  })
  #cleanedAtMs = Number.NEGATIVE_INFINITY

  constructor(options: ActiveStreamsOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#active.size
  }

  /** Number of entries of all streams in memory. */
  get entries(): number {
    let sum = 0
    for (const { stream } of this.#active.values()) sum += stream.entries
    return sum
  }

  async insert(streamId: string, values: Omit<StreamRow, 'hash' | 'version'>): Promise<void> {
    const { clock, deletionMs = () => clock.nowMs(), streams } = this.#options
    const nowMs = clock.monotonicMs()
    if (nowMs - this.#cleanedAtMs >= cleaningIntervalMs) {
      this.#cleanedAtMs = nowMs
      await streams.removeExpired(deletionMs() - streamLifetimeMs)
    }
    const hash = hashStreamId(streamId)
    const row = { ...values, hash, version: 0 }
    await streams.insert(row)
    // Its playlist is usually requested next.
    this.#touch(this.#create(streamId, row))
    const removed = await streams.removeOldest(row.userId, maxStreamsOfUser, hash)
    if (removed.length === 0) return
    const removedKeys = new Set(removed.map(hashKey))
    for (const { id, row } of this.#active.values()) if (removedKeys.has(hashKey(row.hash))) this.#active.delete(id)
  }

  /** Returns whether the stream is in memory, so that a request for it needs no database query. */
  isActive(streamId: string): boolean {
    return this.#active.has(streamId)
  }

  /**
   * Throws 'not_found' when the stream does not exist or has ended, when its credential is no longer valid, or when its
   * user has lost the right.
   */
  async get(streamId: string): Promise<ActiveStream> {
    const { clock, streams, canView, isLive } = this.#options
    const nowMs = clock.nowMs()
    let active = this.#active.get(streamId)
    if (!active) {
      const row = await streams.find(hashStreamId(streamId))
      if (!row) throw streamNotFound()
      active = this.#active.get(streamId) ?? this.#create(streamId, row)
    }
    this.#touch(active)
    if (nowMs >= active.row.createdAtMs + streamLifetimeMs) {
      this.#active.delete(streamId)
      throw streamNotFound()
    }
    const { userId, cameraId, credential } = active.row
    if (!(await isLive(credential)) || !(await canView(userId, cameraId))) throw streamNotFound()
    return active
  }

  #create(id: string, row: StreamRow): ActiveStream {
    const stream = new RecordedStream(this.#options.catalog, row)
    return { id, row, stream, changes: new SerialQueue(), usedAtMs: 0, savedAtMs: Number.NEGATIVE_INFINITY }
  }

  /** Adds footage that was recorded since the last update, as far as it may be listed. */
  async update(active: ActiveStream): Promise<void> {
    const { clock, isRecording } = this.#options
    const { row, stream } = active
    const isGrowing = row.endMs !== undefined || ((await isRecording?.(row.cameraId)) ?? true)
    await this.#updates.run(() => stream.update(clock.nowMs(), isGrowing, row.currentMs))
    if (this.#active.get(active.id) === active) this.#touch(active)
  }

  /** Reports that the footage of this moment was fetched. */
  async noteFetch(active: ActiveStream, currentMs: number): Promise<void> {
    active.row = { ...active.row, currentMs }
    const nowMs = this.#options.clock.monotonicMs()
    if (nowMs - active.savedAtMs < saveIntervalMs) return
    active.savedAtMs = nowMs
    await this.#options.streams.update(active.row.hash, { currentMs })
  }

  /**
   * Throws 'unavailable' if another server has changed the stream: the next request begins with what that has listed.
   */
  change(active: ActiveStream, values: StreamChange): Promise<void> {
    return active.changes.run(async () => {
      const { hash, version } = active.row
      if (!(await this.#options.streams.update(hash, values, version))) {
        if (this.#active.get(active.id) === active) this.#active.delete(active.id)
        throw new AppError('unavailable', 'another server has continued this recorded stream')
      }
      active.row = { ...active.row, ...values, version: version + 1 }
    })
  }

  /** Removes idle streams from memory, and others that exceed the limits together with this one. */
  #touch(used: ActiveStream): void {
    const { clock, maxEntriesInMemory = 1_000_000 } = this.#options
    used.usedAtMs = clock.monotonicMs()
    this.#active.delete(used.id)
    this.#active.set(used.id, used)
    let { entries } = this
    for (const active of this.#active.values()) {
      const isFull = this.#active.size > maxStreamsInMemory || entries > maxEntriesInMemory
      const isIdle = used.usedAtMs - active.usedAtMs > idleMs
      if (active === used || !(isFull || isIdle)) return
      this.#active.delete(active.id)
      entries -= active.stream.entries
    }
  }
}

const hashKey = (hash: Uint8Array): string => Buffer.from(hash).toString('base64url')

/** The id has 128 random bits, so the hash needs no salt. */
function hashStreamId(id: string): Uint8Array {
  return createHash('sha256').update(id).digest()
}

export function streamNotFound(): AppError {
  return new AppError('not_found', 'There is no such recorded stream.')
}

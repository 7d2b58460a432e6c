// Moves recordings from the local disks to buckets once they are old enough, oldest first: they are the next that a full
// disk would delete.

import type { Clock } from '../base/clock.ts'
import { errorChain } from '../base/error.ts'
import type { Logger } from '../base/log.ts'
import { pause } from '../base/pause.ts'
import { parseDurationMs } from '../model/duration.ts'
import type { Place } from '../model/place.ts'
import { parseBucketUrl } from '../places/bucket/bucket-url.ts'
import type { Places } from '../places/places.ts'
import { moveRecordings, removeUnfinishedCopies } from './move.ts'
import type { SegmentRows } from './segment-rows.ts'
import type { SnapshotCopies } from './snapshot-copies.ts'

export type UploadsOptions = {
  readonly rows: SegmentRows
  readonly recordings: {
    /** `localRetention`: how long a camera's footage stays on the local disks; ISO 8601. Null: as the bucket says. */
    listPolicies(): Promise<readonly { readonly cameraId: number; readonly localRetention: string | null }[]>
  }
  readonly places: Places
  /** See `DeletionContext`. */
  readonly node: string | undefined
  readonly snapshots: SnapshotCopies
  readonly clock: Clock
  readonly log: Logger
}

const intervalMs = 5000
/** A camera's snapshot is replaced every eight minutes or so. */
const snapshotIntervalMs = 10 * 60_000
/** Latency, not the line, limits one upload after the other. */
const uploadsAtOnce = 4

export class Uploads {
  readonly #options: UploadsOptions
  #files = 0
  #bytes = 0
  /** Why uploads to a bucket wait, by place. */
  readonly #failures = new Map<number, string>()
  /** When the snapshots were last copied: to which bucket, and the system's time. */
  #copied: { readonly bucketId: number; readonly atMs: number } | undefined

  constructor(options: UploadsOptions) {
    this.#options = options
  }

  /** Runs until `signal` aborts. Throws the database's errors. */
  async run(signal: AbortSignal): Promise<void> {
    const { places, clock } = this.#options
    while (!signal.aborted) {
      // Of an earlier process, or of an upload that failed while the store was away.
      await removeUnfinishedCopies(this.#options, 'server')
      for (const bucket of places.buckets) if (!bucket.isDraining) await this.#upload(bucket, signal)
      await pause(clock, intervalMs, signal)
    }
  }

  /** `failing`: buckets that uploads wait for. */
  stats(): { readonly files: number; readonly bytes: number; readonly failing: number } {
    return { files: this.#files, bytes: this.#bytes, failing: this.#failures.size }
  }

  async #upload(bucket: Place, signal: AbortSignal): Promise<void> {
    const { places, recordings, clock, log } = this.#options
    const { state, detail } = await places.findState(bucket.id)
    if (state !== 'ready') return this.#note(bucket, detail ?? state)
    const { afterMs, bytesPerSecond } = parseBucketUrl(bucket.folder)
    const ages = new Map<number, number>()
    for (const { cameraId, localRetention } of await recordings.listPolicies())
      if (localRetention !== null) ages.set(cameraId, parseDurationMs(localRetention))
    const nowMs = clock.nowMs()
    const endedByMs = (cameraId: number) => nowMs - (ages.get(cameraId) ?? afterMs)
    try {
      for (const from of places.folders) {
        if (!(await places.isPresent(from.id))) continue
        const moved = await moveRecordings({
          ...this.#options,
          owner: 'server',
          ...{ from, targets: [bucket], endedByMs, signal, atOnce: uploadsAtOnce },
          ...{ minFreeBytes: undefined, bytesPerSecond: bytesPerSecond / uploadsAtOnce },
        })
        this.#files += moved.files
        this.#bytes += moved.bytes
        for (const { path, detail } of moved.failed) log.warn({ path, detail }, 'a recording could not be uploaded')
      }
      await this.#copySnapshots(bucket)
      this.#note(bucket, undefined)
    } catch (error) {
      this.#note(bucket, errorChain(error))
    }
  }

  async #copySnapshots({ id }: Place): Promise<void> {
    const { snapshots, clock } = this.#options
    const sinceMs = this.#copied?.bucketId === id ? this.#copied.atMs : 0
    const atMs = clock.nowMs()
    // A clock that was set back is no reason to wait for the time before.
    if (atMs >= sinceMs && atMs < sinceMs + snapshotIntervalMs) return
    await snapshots.update(id, Math.min(sinceMs, atMs))
    this.#copied = { bucketId: id, atMs }
  }

  /** The log mentions changes. */
  #note({ id, folder }: Place, failure: string | undefined): void {
    const before = this.#failures.get(id)
    if (failure === before) return
    if (failure === undefined) {
      this.#failures.delete(id)
      this.#options.log.info({ bucket: folder }, 'recordings are uploaded again')
    } else {
      this.#failures.set(id, failure)
      this.#options.log.warn({ bucket: folder, error: failure }, 'recordings wait on the local disks for their upload')
    }
  }
}

// Writes the events that the server itself observes. Callers never wait: what the store cannot take now is retried, and
// the number of events per camera is limited.

import type { Clock } from '../base/clock.ts'
import { AppError, errorChain } from '../base/error.ts'
import type { Logger } from '../base/log.ts'
import { RateLimiter } from '../base/rate-limiter.ts'
import { WriteBehind } from '../base/write-behind.ts'
import { type CameraLease, LostLease } from '../model/camera-lease.ts'
import type { NewCameraEvent, OutageEdge } from '../store/cameras/events.ts'
import type { Store } from '../store/store.ts'

export type EventWriterOptions = {
  readonly store: Pick<Store, 'fenced'>
  readonly clock: Clock
  readonly log: Logger
}

export type ObservedEvent = Omit<NewCameraEvent, 'source' | 'data'> & { readonly data: object }

/** `lease`: of the camera when it was observed. */
type Queued = {
  readonly event: NewCameraEvent
  readonly outage: OutageEdge | undefined
  readonly lease: CameraLease | undefined
}

const maxQueued = 1000
/** Limits for one camera. */
const maxAnHour = 60

export class EventWriter {
  readonly #options: EventWriterOptions
  readonly #limiter: RateLimiter<number>
  readonly #queue: WriteBehind<Queued>
  #dropped = 0
  #isFailing = false
  /** Failed last time. A connection that broke does not tell whether it was written. */
  #doubtful: Queued | undefined

  constructor(options: EventWriterOptions) {
    this.#options = options
    this.#limiter = new RateLimiter({ limit: maxAnHour, windowMs: 3_600_000, clock: options.clock })
    this.#queue = new WriteBehind({
      maxWaiting: maxQueued,
      maxBatch: 1,
      write: ([next]) => this.#insert(next!),
      onWritten: () => {
        this.#isFailing = false
      },
      onFailure: (error) => this.#noteFailure(error),
    })
  }

  /**
   * True if another event may begin for this camera within the hour. The end of a reported event can always be written.
   */
  mayBegin(cameraId: number): boolean {
    try {
      this.#limiter.take(cameraId)
      return true
    } catch {
      return false
    }
  }

  /** Writes the event unless the camera has had too many within the hour. */
  writeLimited(event: ObservedEvent, lease?: CameraLease): void {
    if (this.mayBegin(event.cameraId)) this.write(event, undefined, lease)
    else this.#dropped++
  }

  /** `outage`: the outage that begins or ends with the event. */
  write(event: ObservedEvent, outage?: OutageEdge, lease?: CameraLease): void {
    const row: NewCameraEvent = { ...event, source: 'system', data: JSON.stringify(event.data) }
    if (!this.#queue.add({ event: row, outage, lease })) this.#dropped++
  }

  /** Starts writing pending events. Call every second. */
  send(): void {
    this.#queue.send()
  }

  /** Resolves when all pending events are in the store or cannot be written at the moment. */
  async flush(): Promise<void> {
    await this.#queue.flush()
  }

  /** `dropped`: events beyond the limit. */
  stats(): { waiting: number; dropped: number } {
    return { waiting: this.#queue.waiting, dropped: this.#dropped }
  }

  /** Logs once, not at each retry. */
  #noteFailure(error: unknown): void {
    if (!this.#isFailing)
      this.#options.log.warn({ error: errorChain(error) }, 'camera events cannot be stored at the moment')
    this.#isFailing = true
  }

  async #insert(queued: Queued): Promise<void> {
    const { event, outage, lease } = queued
    const isDoubtful = this.#doubtful === queued
    try {
      await this.#options.store.fenced(lease, ({ events }) => events.insert(event, outage, { isDoubtful }))
    } catch (error) {
      this.#doubtful = queued
      const isCameraGone = error instanceof AppError && error.kind === 'not_found'
      if (!isCameraGone && !(error instanceof LostLease)) throw error
    }
  }
}

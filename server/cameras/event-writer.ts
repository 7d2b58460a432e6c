// Writes the events that the server itself observes. Callers never wait: what the store cannot take now is retried, and
// the number of events per camera is limited.

import type { Clock } from '../base/clock.ts'
import { AppError, errorChain } from '../base/error.ts'
import type { Logger } from '../base/log.ts'
import { RateLimiter } from '../base/rate-limiter.ts'
import type { NewCameraEvent, OutageEdge } from '../store/cameras/events.ts'
import type { Store } from '../store/store.ts'

export type EventWriterOptions = {
  readonly events: Pick<Store['events'], 'insert'>
  readonly clock: Clock
  readonly log: Logger
}

export type ObservedEvent = Omit<NewCameraEvent, 'source' | 'data'> & { readonly data: object }

type Queued = { readonly event: NewCameraEvent; readonly outage: OutageEdge | undefined }

const maxQueued = 1000
/** Limits for one camera. */
const maxAnHour = 60

export class EventWriter {
  readonly #options: EventWriterOptions
  readonly #limiter: RateLimiter<number>
  #queued: Queued[] = []
  #writing: Promise<void> | undefined
  #dropped = 0
  #isFailing = false

  constructor(options: EventWriterOptions) {
    this.#options = options
    this.#limiter = new RateLimiter({ limit: maxAnHour, windowMs: 3_600_000, clock: options.clock })
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
  writeLimited(event: ObservedEvent): void {
    if (this.mayBegin(event.cameraId)) this.write(event)
    else this.#dropped++
  }

  /** `outage`: the outage that begins or ends with the event. */
  write(event: ObservedEvent, outage?: OutageEdge): void {
    if (this.#queued.length >= maxQueued) {
      this.#dropped++
      return
    }
    this.#queued.push({ event: { ...event, source: 'system', data: JSON.stringify(event.data) }, outage })
  }

  /** Starts writing pending events. Call every second. */
  send(): void {
    if (this.#queued.length > 0) this.#writing ??= this.#drain()
  }

  /** Resolves when all pending events are in the store or cannot be written at the moment. */
  async flush(): Promise<void> {
    await this.#writing
    if (this.#queued.length > 0) await (this.#writing ??= this.#drain())
  }

  /** `dropped`: events beyond the limit. */
  stats(): { waiting: number; dropped: number } {
    return { waiting: this.#queued.length, dropped: this.#dropped }
  }

  async #drain(): Promise<void> {
    try {
      for (let next = this.#queued[0]; next; next = this.#queued[0]) {
        await this.#insert(next)
        this.#queued.shift()
        this.#isFailing = false
      }
    } catch (error) {
      // Log once, not at each retry.
      if (!this.#isFailing)
        this.#options.log.warn({ error: errorChain(error) }, 'camera events cannot be stored at the moment')
      this.#isFailing = true
    } finally {
      this.#writing = undefined
    }
  }

  async #insert({ event, outage }: Queued): Promise<void> {
    try {
      await this.#options.events.insert(event, outage)
    } catch (error) {
      const isCameraGone = error instanceof AppError && error.kind === 'not_found'
      if (!isCameraGone) throw error
    }
  }
}

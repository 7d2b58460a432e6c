// Open streams and pending live requests. Each ends when its client disconnects, when its viewer loses access, or when
// the server stops. Access is checked again after every change of the store that may concern it, soon, and every half
// minute.

import type { ServerResponse } from 'node:http'
import type { Clock } from '../../base/clock.ts'
import { errorChain } from '../../base/error.ts'
import type { Logger } from '../../base/log.ts'
import { repeat } from '../../base/repeat.ts'
import type { Store } from '../../store/store.ts'
import { HttpError } from '../problem.ts'
import { isGone } from '../transport/drained.ts'

/** What was revoked ends within a second, on every server. */
const checkIntervalMs = 400
/** Sign-ins and recorded streams also expire. */
const unchangedIntervalMs = 30_000

/** Per viewer: far more than the tiles of all screens, and far fewer than would harm others. */
const usualMaxPerViewer = 500

export type OpenStreamsOptions = {
  readonly store: Pick<Store, 'accessVersion'>
  readonly clock: Clock
  readonly log: Logger
  readonly maxPerViewer?: number
}

type OpenStream = { readonly isAllowed: () => Promise<boolean>; readonly abort: AbortController }

export class OpenStreams {
  readonly #store: OpenStreamsOptions['store']
  readonly #clock: Clock
  readonly #log: Logger
  readonly #maxPerViewer: number
  readonly #streams = new Set<OpenStream>()
  readonly #byViewer = new Map<string, number>()
  #isFailing = false

  constructor({ store, clock, log, maxPerViewer = usualMaxPerViewer }: OpenStreamsOptions) {
    this.#store = store
    this.#clock = clock
    this.#log = log
    this.#maxPerViewer = maxPerViewer
  }

  get size(): number {
    return this.#streams.size
  }

  /**
   * Returns a signal that aborts when the stream has to end. The stream is forgotten when the response is closed.
   * `viewer`: whose limit it counts against. Throws HttpError 503 if they have too many open.
   */
  add(response: ServerResponse, viewer: string, isAllowed: () => Promise<boolean>): AbortSignal {
    const abort = new AbortController()
    if (isGone(response)) {
      abort.abort()
      return abort.signal
    }
    const open = this.#byViewer.get(viewer) ?? 0
    if (open >= this.#maxPerViewer) throw tooMany(this.#maxPerViewer)
    this.#byViewer.set(viewer, open + 1)
    const stream: OpenStream = { isAllowed, abort }
    this.#streams.add(stream)
    response.once('close', () => {
      this.#streams.delete(stream)
      this.#forget(viewer)
      abort.abort()
    })
    return abort.signal
  }

  /** Ends all streams. */
  close(): void {
    for (const { abort } of this.#streams) abort.abort()
  }

  /** Checks access until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    let seenVersion = this.#store.accessVersion
    let checkedAtMs = this.#clock.monotonicMs()
    const check = async () => {
      const version = this.#store.accessVersion
      const nowMs = this.#clock.monotonicMs()
      if (version === seenVersion && nowMs - checkedAtMs < unchangedIntervalMs) return
      // After a failure, the next run checks again.
      if (!(await this.#checkAll())) return
      seenVersion = version
      checkedAtMs = nowMs
    }
    await repeat(check, { clock: this.#clock, signal, intervalMs: checkIntervalMs, isDelayed: true })
  }

  #forget(viewer: string): void {
    const left = this.#byViewer.get(viewer)! - 1
    if (left > 0) this.#byViewer.set(viewer, left)
    else this.#byViewer.delete(viewer)
  }

  /** Returns false if access could not be checked for all of them. */
  async #checkAll(): Promise<boolean> {
    const checks = await Promise.allSettled(
      [...this.#streams].map(async ({ isAllowed, abort }) => {
        if (!(await isAllowed())) abort.abort()
      }),
    )
    const [failure, ...others] = checks.filter((check) => check.status === 'rejected')
    const wasFailing = this.#isFailing
    this.#isFailing = failure !== undefined
    if (!failure) return true
    // Once, not at each attempt while the database is away.
    const fields = { streams: 1 + others.length, reason: errorChain(failure.reason) }
    if (!wasFailing) this.#log.warn(fields, 'The authorization to watch could not be checked')
    return false
  }
}

function tooMany(most: number): HttpError {
  const detail = `This account has ${most} open streams and image requests, which is the maximum. Close some of them.`
  return new HttpError(503, 'unavailable', detail, { 'retry-after': '5' })
}

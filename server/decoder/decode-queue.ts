// Which key frame is decoded next. Cameras take turns by the processor time their pictures have cost, so that one with expensive
// pictures waits for itself, and not the others for it. docs/design/decoder.md

import { DecodeStanding, type Spent } from './decode-standing.ts'

export type Waiting = {
  /** The camera that the key frame is of; undefined for a single request that belongs to no camera. */
  readonly source: number | string | undefined
  readonly bytes: number
}

export type DecodeQueueOptions = {
  /** Frames that may wait, and their bytes. */
  readonly maxPending: number
  readonly maxPendingBytes: number
}

type Key = number | string | symbol
type Client<J> = { readonly standing: DecodeStanding; readonly waiting: J[]; bytes: number; isRunning: boolean }

/** Of a full queue, one camera may have so much. */
const shareOfPending = 1 / 4
const shareOfBytes = 1 / 4

/** Cameras that are remembered. */
const maxClients = 5000

export class DecodeQueue<J extends Waiting> {
  readonly #options: DecodeQueueOptions
  /** The one that was served longest ago comes first. */
  readonly #clients = new Map<Key, Client<J>>()
  readonly #anonymous = new WeakMap<J, symbol>()
  #length = 0
  #bytes = 0
  /** `servedMs` of the camera whose turn it was last. */
  #turnMs = 0

  constructor(options: DecodeQueueOptions) {
    this.#options = options
  }

  get length(): number {
    return this.#length
  }

  /** How long the frames of a camera are not decoded because one of them was lost; 0 or less when they are. */
  blockedMs(source: Waiting['source'], nowMs: number): number {
    return (source === undefined ? undefined : this.#clients.get(source))?.standing.blockedMs(nowMs) ?? 0
  }

  /**
   * Returns the frame that has no place in the queue: this one, when its camera has its share already; when the queue is full, one of
   * the camera that has cost most.
   */
  add(job: J): J | undefined {
    const { maxPending, maxPendingBytes } = this.#options
    const client = this.#clientOf(job)
    const isOwn = job.source !== undefined
    if (isOwn && client.waiting.length >= Math.max(1, maxPending * shareOfPending)) return job
    if (isOwn && client.bytes > 0 && client.bytes + job.bytes > maxPendingBytes * shareOfBytes) return job
    if (client.waiting.length === 0 && !client.isRunning) {
      // A camera that was away has not saved up any processor time.
      client.standing.servedMs = Math.max(client.standing.servedMs, this.#turnMs)
    }
    client.waiting.push(job)
    this.#count(client, job, 1)
    return this.#length > maxPending || this.#bytes > maxPendingBytes ? this.#dropOne(client) : undefined
  }

  /** A frame of a camera whose pictures are quick waits. */
  hasQuick(nowMs: number): boolean {
    for (const { waiting, isRunning, standing } of this.#clients.values()) {
      if (waiting.length > 0 && !isRunning && standing.isQuick(nowMs)) return true
    }
    return false
  }

  /** The next frame whose turn it is; of each camera one frame at a time. `isQuickOnly`: only of cameras whose pictures are quick. */
  take(nowMs: number, { isQuickOnly }: { readonly isQuickOnly: boolean }): J | undefined {
    let next: Client<J> | undefined
    for (const client of this.#clients.values()) {
      if (client.waiting.length === 0 || client.isRunning) continue
      if (isQuickOnly && !client.standing.isQuick(nowMs)) continue
      if (!next || client.standing.servedMs < next.standing.servedMs) next = client
    }
    const job = next?.waiting.shift()
    if (!next || !job) return undefined
    this.#turnMs = Math.max(this.#turnMs, next.standing.servedMs)
    next.isRunning = true
    this.#count(next, job, -1)
    return job
  }

  /** A frame that was taken is done with. Returns those of its camera that will not be decoded now, because it was lost. */
  finish(job: J, spent: Spent, nowMs: number): readonly J[] {
    const key = this.#keyOf(job)
    const client = this.#clients.get(key)
    if (!client) return []
    client.isRunning = false
    client.standing.note(spent, nowMs)
    this.#clients.delete(key)
    if (typeof key === 'symbol') return []
    this.#clients.set(key, client)
    if (client.standing.blockedMs(nowMs) <= 0) return []
    for (const waiting of client.waiting) this.#count(client, waiting, -1)
    return client.waiting.splice(0)
  }

  /** Takes all out. */
  drain(): J[] {
    const all: J[] = []
    for (const client of this.#clients.values()) {
      for (const job of client.waiting) this.#count(client, job, -1)
      all.push(...client.waiting.splice(0))
    }
    return all
  }

  #clientOf(job: J): Client<J> {
    const key = this.#keyOf(job)
    let client = this.#clients.get(key)
    if (client) return client
    client = { standing: new DecodeStanding(), waiting: [], bytes: 0, isRunning: false }
    this.#clients.set(key, client)
    if (this.#clients.size > maxClients) this.#forgetOldest()
    return client
  }

  #keyOf(job: J): Key {
    if (job.source !== undefined) return job.source
    const key = this.#anonymous.get(job) ?? Symbol('anonymous')
    this.#anonymous.set(job, key)
    return key
  }

  /** The newest frame of the camera that has cost most, or of the one that has just come. */
  #dropOne(comer: Client<J>): J {
    let victim = comer
    for (const client of this.#clients.values()) {
      if (client.waiting.length > 0 && client.standing.servedMs > victim.standing.servedMs) victim = client
    }
    const job = victim.waiting.pop()!
    this.#count(victim, job, -1)
    return job
  }

  #count(client: Client<J>, { bytes }: J, sign: 1 | -1): void {
    client.bytes += sign * bytes
    this.#bytes += sign * bytes
    this.#length += sign
  }

  #forgetOldest(): void {
    for (const [key, { waiting, isRunning }] of this.#clients) {
      if (waiting.length > 0 || isRunning) continue
      this.#clients.delete(key)
      return
    }
  }
}

// Decides which key frame is decoded next. Viewers are served in turn by the processor time that their images have
// taken, and so are the cameras of a viewer. A viewer with many requests, or a camera with expensive frames, delays
// only its own images. docs/design/decoder.md

import { type DecodeCost, DecodeHistory } from './decode-history.ts'
import { listPayers, minTurnMs, ViewerShares } from './viewer-shares.ts'

export type Waiting = {
  /** The camera of the key frame; undefined for a single request that belongs to no camera. */
  readonly source: number | string | undefined
  readonly bytes: number
  /** The viewers that want images of the frame; may grow while it waits. Empty: the server itself. */
  readonly viewers: ReadonlySet<number>
}

export type DecodeQueueOptions = {
  /** Limits for the waiting frames: their number and their bytes. */
  readonly maxPending: number
  readonly maxPendingBytes: number
}

type Key = number | string | symbol
type Client<J> = { readonly history: DecodeHistory; readonly waiting: J[]; bytes: number; isRunning: boolean }

/** The part of a full queue that one camera may occupy, in frames and in bytes. */
const maxShareOfCamera = 1 / 4

/** Number of cameras whose history is kept. */
const maxClients = 5000

export class DecodeQueue<J extends Waiting> {
  readonly #options: DecodeQueueOptions
  /** The camera that was served longest ago comes first. */
  readonly #clients = new Map<Key, Client<J>>()
  readonly #anonymous = new WeakMap<J, symbol>()
  #length = 0
  #bytes = 0
  /** `servedMs` of the camera that was served last. */
  #levelMs = 0
  readonly #shares = new ViewerShares()

  constructor(options: DecodeQueueOptions) {
    this.#options = options
  }

  get length(): number {
    return this.#length
  }

  /**
   * Returns how long the frames of a camera are still rejected because one of them was lost; 0 or less when they are
   * decoded.
   */
  blockedMs(source: Waiting['source'], nowMs: number): number {
    return (source === undefined ? undefined : this.#clients.get(source))?.history.blockedMs(nowMs) ?? 0
  }

  /**
   * Adds a frame and returns the frames that were dropped for it. A camera that exceeds its share loses one of its own
   * frames; a full queue loses one of all frames. The first choice is a frame of the viewer with the most frames, the
   * second a frame of the camera that has taken the most time. The newest frame is dropped first.
   */
  add(job: J): readonly J[] {
    const { maxPending, maxPendingBytes } = this.#options
    const client = this.#clientOf(job)
    if (client.waiting.length === 0 && !client.isRunning) {
      // A camera that was idle has not accumulated any processor time.
      client.history.servedMs = Math.max(client.history.servedMs, this.#levelMs)
    }
    client.waiting.push(job)
    this.#count(client, job, 1)
    const dropped: J[] = []
    const exceedsLimits = ({ waiting, bytes }: Client<J>) =>
      waiting.length > Math.max(1, maxPending * maxShareOfCamera) ||
      (waiting.length > 1 && bytes > maxPendingBytes * maxShareOfCamera)
    while (job.source !== undefined && exceedsLimits(client)) dropped.push(this.#dropOne([client], client))
    while (this.#length > maxPending || this.#bytes > maxPendingBytes) {
      dropped.push(this.#dropOne([...this.#clients.values()], client))
    }
    return dropped
  }

  /** Returns whether a frame of a quick camera is waiting. */
  hasQuick(nowMs: number): boolean {
    for (const { waiting, isRunning, history } of this.#clients.values()) {
      if (waiting.length > 0 && !isRunning && history.isQuick(nowMs)) return true
    }
    return false
  }

  /**
   * Returns the next frame to decode, at most one of each camera at a time. With `isQuickOnly`, only frames of quick
   * cameras.
   */
  take(nowMs: number, { isQuickOnly }: { readonly isQuickOnly: boolean }): J | undefined {
    let next: { readonly client: Client<J>; readonly job: J; readonly shareMs: number } | undefined
    for (const client of this.#clients.values()) {
      if (client.isRunning || (isQuickOnly && !client.history.isQuick(nowMs))) continue
      for (const job of client.waiting) {
        const shareMs = this.#shares.find(job.viewers)
        const isNext =
          !next ||
          shareMs < next.shareMs ||
          (shareMs === next.shareMs && client.history.servedMs < next.client.history.servedMs)
        if (isNext) next = { client, job, shareMs }
      }
    }
    if (!next) return undefined
    const { client, job } = next
    this.#shares.startTurn(job.viewers)
    this.#levelMs = Math.max(this.#levelMs, client.history.servedMs)
    client.isRunning = true
    client.waiting.splice(client.waiting.indexOf(job), 1)
    this.#count(client, job, -1)
    return job
  }

  /**
   * Reports that a frame was decoded or lost. After a loss, the waiting frames of its camera are removed and returned.
   */
  finish(job: J, cost: DecodeCost, nowMs: number): readonly J[] {
    const key = this.#keyOf(job)
    const client = this.#clients.get(key)
    if (!client) return []
    client.isRunning = false
    this.#shares.charge(job.viewers, Math.max(0, (cost.cpuMs ?? minTurnMs) - minTurnMs))
    client.history.note(cost, nowMs)
    this.#clients.delete(key)
    if (typeof key === 'symbol') return []
    this.#clients.set(key, client)
    if (client.history.blockedMs(nowMs) <= 0) return []
    for (const waiting of client.waiting) this.#count(client, waiting, -1)
    return client.waiting.splice(0)
  }

  /** Removes and returns all waiting frames. */
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
    client = { history: new DecodeHistory(), waiting: [], bytes: 0, isRunning: false }
    this.#clients.set(key, client)
    if (this.#clients.size > maxClients) this.#removeOldest()
    return client
  }

  #keyOf(job: J): Key {
    if (job.source !== undefined) return job.source
    const key = this.#anonymous.get(job) ?? Symbol('anonymous')
    this.#anonymous.set(job, key)
    return key
  }

  /** Removes one frame of these cameras. `newest` is the camera whose frame was just added. */
  #dropOne(clients: readonly Client<J>[], newest: Client<J>): J {
    const frames = countFrames(clients.flatMap(({ waiting }) => waiting))
    // A frame that several viewers want is dropped only when all of them have many frames.
    const fewestFrames = ({ viewers }: J) => Math.min(...[...listPayers(viewers)].map((viewer) => frames.get(viewer)!))
    const candidates = clients.flatMap((client) =>
      client.waiting.map((job) => ({ client, job, frameCount: fewestFrames(job) })),
    )
    const isWorse = (one: (typeof candidates)[number], other: (typeof candidates)[number]) => {
      if (one.frameCount !== other.frameCount) return one.frameCount > other.frameCount
      const [oneMs, otherMs] = [one.client.history.servedMs, other.client.history.servedMs]
      return oneMs === otherMs ? one.client === other.client || one.client === newest : oneMs > otherMs
    }
    const { client, job } = candidates.reduce((worst, one) => (isWorse(one, worst) ? one : worst))
    client.waiting.splice(client.waiting.indexOf(job), 1)
    this.#count(client, job, -1)
    return job
  }

  #count(client: Client<J>, { bytes }: J, sign: 1 | -1): void {
    client.bytes += sign * bytes
    this.#bytes += sign * bytes
    this.#length += sign
  }

  #removeOldest(): void {
    for (const [key, { waiting, isRunning }] of this.#clients) {
      if (waiting.length > 0 || isRunning) continue
      this.#clients.delete(key)
      return
    }
  }
}

/** Returns the number of frames that each viewer waits for. */
function countFrames(jobs: readonly Waiting[]): ReadonlyMap<number, number> {
  const frames = new Map<number, number>()
  for (const { viewers } of jobs) {
    for (const viewer of listPayers(viewers)) frames.set(viewer, (frames.get(viewer) ?? 0) + 1)
  }
  return frames
}

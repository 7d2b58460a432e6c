// Which key frame is decoded next. Viewers take turns by the processor time their pictures have cost, and the cameras of a viewer
// likewise, so that whoever asks for much, and a camera with expensive pictures, keep only their own waiting. docs/design/decoder.md

import { DecodeStanding, type Spent } from './decode-standing.ts'
import { leastTurnMs, partiesOf, ViewerShares } from './viewer-shares.ts'

export type Waiting = {
  /** The camera that the key frame is of; undefined for a single request that belongs to no camera. */
  readonly source: number | string | undefined
  readonly bytes: number
  /** Who wants pictures of it; may grow while it waits. Nobody: the server itself. */
  readonly viewers: ReadonlySet<number>
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
  readonly #shares = new ViewerShares()

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
   * Returns the frames that have no place in the queue: of the viewer with most frames, among those of this camera when that has its
   * share already, among all when the queue is full; of one viewer those of the camera that has cost most, the newest first.
   */
  add(job: J): readonly J[] {
    const { maxPending, maxPendingBytes } = this.#options
    const client = this.#clientOf(job)
    if (client.waiting.length === 0 && !client.isRunning) {
      // A camera that was away has not saved up any processor time.
      client.standing.servedMs = Math.max(client.standing.servedMs, this.#turnMs)
    }
    client.waiting.push(job)
    this.#count(client, job, 1)
    const dropped: J[] = []
    const hasTooMuch = ({ waiting, bytes }: Client<J>) =>
      waiting.length > Math.max(1, maxPending * shareOfPending) ||
      (waiting.length > 1 && bytes > maxPendingBytes * shareOfBytes)
    while (job.source !== undefined && hasTooMuch(client)) dropped.push(this.#dropOne([client], client))
    while (this.#length > maxPending || this.#bytes > maxPendingBytes) {
      dropped.push(this.#dropOne([...this.#clients.values()], client))
    }
    return dropped
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
    let next: { readonly client: Client<J>; readonly job: J; readonly shareMs: number } | undefined
    for (const client of this.#clients.values()) {
      if (client.isRunning || (isQuickOnly && !client.standing.isQuick(nowMs))) continue
      for (const job of client.waiting) {
        const shareMs = this.#shares.find(job.viewers)
        const isSooner =
          !next ||
          shareMs < next.shareMs ||
          (shareMs === next.shareMs && client.standing.servedMs < next.client.standing.servedMs)
        if (isSooner) next = { client, job, shareMs }
      }
    }
    if (!next) return undefined
    const { client, job } = next
    this.#shares.noteTurn(job.viewers)
    this.#turnMs = Math.max(this.#turnMs, client.standing.servedMs)
    client.isRunning = true
    client.waiting.splice(client.waiting.indexOf(job), 1)
    this.#count(client, job, -1)
    return job
  }

  /** A frame that was taken is done with. Returns those of its camera that will not be decoded now, because it was lost. */
  finish(job: J, spent: Spent, nowMs: number): readonly J[] {
    const key = this.#keyOf(job)
    const client = this.#clients.get(key)
    if (!client) return []
    client.isRunning = false
    this.#shares.charge(job.viewers, Math.max(0, (spent.cpuMs ?? leastTurnMs) - leastTurnMs))
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

  /** Takes a frame of one of these cameras out. `comer`: whose frame has just come. */
  #dropOne(clients: readonly Client<J>[], comer: Client<J>): J {
    const frames = countFrames(clients.flatMap(({ waiting }) => waiting))
    // A frame that several wait for goes only when all of them have many.
    const greedOf = ({ viewers }: J) => Math.min(...[...partiesOf(viewers)].map((party) => frames.get(party)!))
    const candidates = clients.flatMap((client) => client.waiting.map((job) => ({ client, job, greed: greedOf(job) })))
    const isWorse = (one: (typeof candidates)[number], than: (typeof candidates)[number]) => {
      if (one.greed !== than.greed) return one.greed > than.greed
      const [costMs, thanMs] = [one.client.standing.servedMs, than.client.standing.servedMs]
      return costMs === thanMs ? one.client === than.client || one.client === comer : costMs > thanMs
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

  #forgetOldest(): void {
    for (const [key, { waiting, isRunning }] of this.#clients) {
      if (waiting.length > 0 || isRunning) continue
      this.#clients.delete(key)
      return
    }
  }
}

/** How many of the frames each viewer waits for. */
function countFrames(jobs: readonly Waiting[]): ReadonlyMap<number, number> {
  const frames = new Map<number, number>()
  for (const { viewers } of jobs) {
    for (const party of partiesOf(viewers)) frames.set(party, (frames.get(party) ?? 0) + 1)
  }
  return frames
}

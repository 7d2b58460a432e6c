// Plans which footage must be deleted now, oldest first, and why. It only reads the index. Retention deletes the
// result, and the dry run prints it. docs/design/retention.md explains the five stages.

import { compareRecorded } from '../model/clock-epoch.ts'
import type { OpenFootage } from '../model/segment-views.ts'
import { OldestFirst } from './oldest-first.ts'
import type { SegmentRows } from './segment-rows.ts'

/** What one camera may keep. */
export type CameraLimits = {
  readonly cameraId: number
  readonly ownerId: number
  /** Footage that ended longer ago is deleted. */
  readonly maxAgeMs: number
  readonly maxBytes: number | undefined
  /** False when recording is turned off and existing footage only waits to expire. */
  readonly isRecorded: boolean
}

export type RetentionLimits = {
  readonly cameras: readonly CameraLimits[]
  /** Byte limits over all cameras of a user, by the user's id. */
  readonly users: ReadonlyMap<number, number>
  /** Users who do not own the server; see `findShareBytes`. */
  readonly others?: ReadonlySet<number>
  /** The limit of the whole archive. */
  readonly maxBytes: number | undefined
}

export type RetentionReason = 'age' | 'camera_bytes' | 'user_bytes' | 'archive_bytes' | 'disk_space'

export type PlanOptions = {
  readonly rows: Pick<SegmentRows, 'listOldest' | 'listUsage'>
  readonly limits: RetentionLimits
  readonly nowMs: number
  /** The files being recorded. They count and are kept. */
  readonly open: readonly OpenFootage[]
  /**
   * How much more should be free in each place. Footage of other places of this server is away: it neither counts nor is
   * deleted.
   */
  readonly missingBytes: ReadonlyMap<number, number>
  /**
   * Those of this server. Footage of other servers is deleted by them, and counts for the limits of cameras and users, which
   * all servers keep together. Default: all.
   */
  readonly ownPlaces?: ReadonlySet<number>
  /** How many more files should fit in each place. */
  readonly missingFiles?: ReadonlyMap<number, number>
  /** Yields the thread. Reading the oldest segments of a thousand cameras takes some 50 ms. */
  readonly rest?: () => Promise<void>
}

/** Yields after this many cameras. */
const restAfter = 50

export type PlannedDeletion = {
  readonly id: number
  readonly cameraId: number
  readonly startMs: number
  readonly endMs: number
  readonly bytes: number
  readonly reason: RetentionReason
}

/** What users who do not own the server keep of all footage when there is no room for more. */
const shareOfOthers = 0.1

/**
 * Bytes of a user that are deleted no earlier than those of others when the archive or the disk is full: the user's
 * limit or, without one, a tenth of the `wholeBytes` that all footage may have. Undefined for owners of the server,
 * whose footage is deleted only where all other users are within their shares.
 */
export function findShareBytes(
  { users, others }: Pick<RetentionLimits, 'users' | 'others'>,
  userId: number,
  wholeBytes: number,
): number | undefined {
  return others?.has(userId) ? (users.get(userId) ?? wholeBytes * shareOfOthers) : undefined
}

/** The footage of a camera in one place; `taken`: files that are planned for deletion. */
type Stock = {
  readonly cameraId: number
  readonly placeId: number
  readonly cursor: OldestFirst
  /** Of another server: that one deletes what is planned. */
  readonly isForeign: boolean
  bytes: number
  taken: number
}

/** What is still to be deleted. */
type Need = { bytes: number; files: number }

/** Planned segments count as deleted, whether or not they are. Those of other servers are left out. */
export async function* planRetention(options: PlanOptions): AsyncGenerator<PlannedDeletion, void, void> {
  for await (const { isForeign, ...planned } of planAll(options)) if (!isForeign) yield planned
}

type Planned = PlannedDeletion & Pick<Stock, 'isForeign'>

async function* planAll(options: PlanOptions): AsyncGenerator<Planned, void, void> {
  const { limits, missingBytes, missingFiles } = options
  const all = await openStocks(options)
  const own = all.filter(({ isForeign }) => !isForeign)
  const byCamera = Map.groupBy(all, ({ cameraId }) => cameraId)
  const byPlace = Map.groupBy(own, ({ placeId }) => placeId)
  const beforeBytes = new Map([...byPlace].map(([placeId, stocks]) => [placeId, sumBytes(stocks)]))
  for (const [i, { cameraId, ownerId, maxAgeMs, maxBytes }] of limits.cameras.entries()) {
    if (i % restAfter === restAfter - 1) await options.rest?.()
    // What other servers delete by age does not count below.
    const isCounted = maxBytes !== undefined || limits.users.has(ownerId)
    for (const stock of byCamera.get(cameraId) ?? [])
      if (!stock.isForeign || isCounted) yield* takeOld(stock, options.nowMs - maxAgeMs, options.nowMs)
  }
  for (const { cameraId, maxBytes } of limits.cameras) {
    const stocks = byCamera.get(cameraId)
    if (stocks && maxBytes !== undefined) yield* takeExcess(stocks, needFor(stocks, maxBytes), 'camera_bytes')
  }
  const owners = new Map(limits.cameras.map(({ cameraId, ownerId }) => [cameraId, ownerId]))
  for (const [userId, maxBytes] of limits.users) {
    const stocks = all.filter(({ cameraId }) => owners.get(cameraId) === userId)
    yield* takeExcess(stocks, needFor(stocks, maxBytes), 'user_bytes')
  }
  if (limits.maxBytes !== undefined) {
    const need = needFor(own, limits.maxBytes)
    yield* takeBeyondShares(own, { owners, limits, maxBytes: limits.maxBytes, need, reason: 'archive_bytes' })
    yield* takeExcess(own, need, 'archive_bytes')
  }
  for (const [placeId, stocks] of byPlace) {
    // Deletions for other reasons make room as well.
    const maxBytes = beforeBytes.get(placeId)! - (missingBytes.get(placeId) ?? 0)
    const taken = stocks.reduce((sum, stock) => sum + stock.taken, 0)
    const need = { ...needFor(stocks, maxBytes), files: (missingFiles?.get(placeId) ?? 0) - taken }
    yield* takeBeyondShares(stocks, { owners, limits, maxBytes, need, reason: 'disk_space' })
    yield* takeExcess(stocks, need, 'disk_space')
  }
}

type Shares = {
  /** By camera. */
  readonly owners: ReadonlyMap<number, number>
  readonly limits: RetentionLimits
  /** Of what the shares are parts. */
  readonly maxBytes: number
  readonly need: Need
  readonly reason: RetentionReason
}

function needFor(stocks: readonly Stock[], maxBytes: number): Need {
  return { bytes: sumBytes(stocks) - maxBytes, files: 0 }
}

const isMet = ({ bytes, files }: Need): boolean => bytes <= 0 && files <= 0

function meet(need: Need, { bytes }: PlannedDeletion): void {
  need.bytes -= bytes
  need.files--
}

/** Takes the oldest of what users have beyond their shares, until the need is met. */
async function* takeBeyondShares(
  all: readonly Stock[],
  { owners, limits, maxBytes, need, reason }: Shares,
): AsyncGenerator<Planned, void, void> {
  if (isMet(need)) return
  const owned = all.filter(({ cameraId }) => owners.has(cameraId))
  const accounts = Map.groupBy(owned, ({ cameraId }) => owners.get(cameraId)!)
  while (!isMet(need)) {
    const greedy = [...accounts].flatMap(([userId, stocks]) => {
      const share = findShareBytes(limits, userId, maxBytes)
      return share !== undefined && sumBytes(stocks) > share ? stocks : []
    })
    const planned = take(await findOldest(greedy), reason)
    if (!planned) return
    meet(need, planned)
    yield planned
  }
}

async function openStocks({ rows, open, missingBytes, ownPlaces }: PlanOptions): Promise<Stock[]> {
  const usage = await rows.listUsage()
  // Elsewhere may be footage in places that are away, or of other servers.
  const isOnly = missingBytes.size === 1 && usage.every(({ placeId }) => missingBytes.has(placeId))
  const stocks = new Map<string, Stock>()
  for (const { cameraId, placeId, bytes } of [...usage, ...open]) {
    const isForeign = ownPlaces !== undefined && !ownPlaces.has(placeId)
    if (!missingBytes.has(placeId) && !isForeign) continue
    const key = `${cameraId} ${placeId}`
    const stock = stocks.get(key)
    if (stock) stock.bytes += bytes
    else {
      const cursor = new OldestFirst(rows, cameraId, isOnly ? {} : { placeId })
      stocks.set(key, { cameraId, placeId, cursor, isForeign, bytes, taken: 0 })
    }
  }
  return [...stocks.values()]
}

async function* takeOld(stock: Stock, beforeMs: number, nowMs: number): AsyncGenerator<Planned, void, void> {
  const { cursor } = stock
  /** Ids of footage from the future that was skipped so far, and of footage before something that is too old. */
  const future: number[] = []
  let old = 0
  for (;;) {
    if (!cursor.isLoaded) await cursor.load()
    const { head } = cursor
    if (!head) break
    if (head.startMs > nowMs) {
      // It was recorded before the clock was set back. Its age follows from the footage recorded after it.
      future.push(head.id)
      cursor.passOver()
      continue
    }
    if (head.startMs > beforeMs) break
    // It may last longer than one that began later. It waits while others are deleted.
    if (head.endMs > beforeMs) cursor.passOver()
    else {
      old = future.length
      yield take(stock, 'age')!
    }
  }
  cursor.rewind()
  const planned = new Set(future.slice(0, old))
  while (planned.size > 0 && cursor.head) {
    if (planned.delete(cursor.head.id)) yield take(stock, 'age')!
    else cursor.passOver()
  }
  cursor.rewind()
}

function sumBytes(stocks: readonly Stock[]): number {
  return stocks.reduce((sum, { bytes }) => sum + bytes, 0)
}

/** Takes the oldest segments of all until the need is met. */
async function* takeExcess(
  stocks: readonly Stock[],
  need: Need,
  reason: RetentionReason,
): AsyncGenerator<Planned, void, void> {
  while (!isMet(need)) {
    const planned = take(await findOldest(stocks), reason)
    if (!planned) return
    meet(need, planned)
    yield planned
  }
}

async function findOldest(stocks: readonly Stock[]): Promise<Stock | undefined> {
  for (const { cursor } of stocks) if (!cursor.isLoaded) await cursor.load()
  let oldest: Stock | undefined
  for (const stock of stocks) if (stock.cursor.head && (!oldest || isOlder(stock, oldest))) oldest = stock
  return oldest
}

function isOlder(one: Stock, other: Stock): boolean {
  const [a, b] = [one.cursor.head!, other.cursor.head!]
  return one.cameraId === other.cameraId ? compareRecorded(a, b) < 0 : a.startMs < b.startMs
}

function take(stock: Stock | undefined, reason: RetentionReason): Planned | undefined {
  const head = stock?.cursor.head
  if (!stock || !head) return undefined
  stock.cursor.take()
  stock.bytes -= head.bytes
  stock.taken++
  const { id, startMs, endMs, bytes } = head
  return { id, cameraId: stock.cameraId, startMs, endMs, bytes, reason, isForeign: stock.isForeign }
}

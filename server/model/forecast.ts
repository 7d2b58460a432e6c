// How far back footage will reach, and when the space will be used up, if everything goes on at the present rate. Each
// camera's footage grows by its rate until it is as old as its limits let it get; a limit over several cameras takes
// the oldest of them all.

export type CameraLoad = {
  readonly cameraId: number
  readonly ownerId: number | undefined
  readonly bytes: number
  /** 0 for a camera that is not recorded. */
  readonly bytesPerMs: number
  /** Of its oldest footage; 0 when there is none. */
  readonly ageMs: number
  readonly maxAgeMs: number | undefined
  readonly maxBytes: number | undefined
}

export type Room = {
  /** Bytes that a user's cameras may have together, by the user's id. */
  readonly users: ReadonlyMap<number, number>
  /** Bytes that all cameras may have; undefined: no limit. */
  readonly archiveBytes: number | undefined
  /** As `archiveBytes`, what the disk has room for. */
  readonly diskBytes: number | undefined
}

export type Forecast = {
  /** How old a camera's footage gets, by its id; infinite when nothing ends it, or nothing is recorded. */
  readonly reachMs: ReadonlyMap<number, number>
  /** In how long a limit begins to take footage before its time; infinite for never. */
  readonly userFullMs: ReadonlyMap<number, number>
  readonly archiveFullMs: number
  readonly diskFullMs: number
}

type Growth = { readonly load: CameraLoad; reachMs: number }

export function forecastStorage(loads: readonly CameraLoad[], room: Room): Forecast {
  const all = loads.map((load): Growth => ({ load, reachMs: ownReach(load) }))
  const userFullMs = new Map<number, number>()
  for (const [userId, bytes] of room.users) {
    const own = all.filter(({ load }) => load.ownerId === userId)
    userFullMs.set(userId, limit(own, bytes))
  }
  const archiveFullMs = limit(all, room.archiveBytes)
  const diskFullMs = limit(all, room.diskBytes)
  const reachMs = new Map(all.map((growth) => [growth.load.cameraId, growth.reachMs]))
  return { reachMs, userFullMs, archiveFullMs, diskFullMs }
}

/** By the limits of the camera alone. */
function ownReach({ bytesPerMs, maxAgeMs, maxBytes }: CameraLoad): number {
  if (bytesPerMs === 0) return Number.POSITIVE_INFINITY
  return Math.min(
    maxAgeMs ?? Number.POSITIVE_INFINITY,
    maxBytes === undefined ? Number.POSITIVE_INFINITY : maxBytes / bytesPerMs,
  )
}

/** Shortens what reaches too far back. Returns in how long the limit is reached. */
function limit(cameras: readonly Growth[], bytes: number | undefined): number {
  if (bytes === undefined) return Number.POSITIVE_INFINITY
  const fullMs = findFull(cameras, bytes)
  const ageMs = findAge(cameras, bytes)
  for (const camera of cameras) if (camera.load.bytesPerMs > 0) camera.reachMs = Math.min(camera.reachMs, ageMs)
  return fullMs
}

/** The age of all, none older than it gets anyway, at which they make up so many bytes. */
function findAge(cameras: readonly Growth[], bytes: number): number {
  const growing = cameras.filter(({ load }) => load.bytesPerMs > 0).sort((a, b) => a.reachMs - b.reachMs)
  let rest = growing.reduce((sum, { load }) => sum + load.bytesPerMs, 0)
  let left = Math.max(0, bytes)
  for (const { load, reachMs } of growing) {
    if (left / rest <= reachMs) return left / rest
    left -= load.bytesPerMs * reachMs
    rest -= load.bytesPerMs
  }
  return Number.POSITIVE_INFINITY
}

/** When they grow to so many bytes; each grows until it is as old as it gets. */
function findFull(cameras: readonly Growth[], bytes: number): number {
  let total = cameras.reduce((sum, { load }) => sum + load.bytes, 0)
  if (total >= bytes) return 0
  const growing = cameras
    .map(({ load, reachMs }) => ({ rate: load.bytesPerMs, untilMs: Math.max(0, reachMs - load.ageMs) }))
    .filter(({ rate }) => rate > 0)
    .sort((a, b) => a.untilMs - b.untilMs)
  let rate = growing.reduce((sum, each) => sum + each.rate, 0)
  let nowMs = 0
  for (const { rate: own, untilMs } of growing) {
    const fullMs = nowMs + (bytes - total) / rate
    if (fullMs <= untilMs) return fullMs
    total += rate * (untilMs - nowMs)
    nowMs = untilMs
    rate -= own
  }
  return Number.POSITIVE_INFINITY
}

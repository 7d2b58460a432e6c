// Predicts how far back footage will reach and when space runs out if recording continues at the present rate. Each
// camera's footage grows at its rate until its limits delete as much as is added; a limit over several cameras deletes
// the oldest footage of all.

export type CameraLoad = {
  readonly cameraId: number
  readonly ownerId: number | undefined
  readonly bytes: number
  /** 0 for a camera that is not recorded. */
  readonly bytesPerMs: number
  /** Age of the oldest footage; 0 if there is none. */
  readonly ageMs: number
  readonly maxAgeMs: number | undefined
  readonly maxBytes: number | undefined
}

export type Room = {
  /** Maximum bytes of a user's cameras together, by user id. */
  readonly users: ReadonlyMap<number, number>
  /** Maximum bytes of all cameras; undefined for no limit. */
  readonly archiveBytes: number | undefined
  /** Like `archiveBytes`, for the space on the disk. */
  readonly diskBytes: number | undefined
}

export type Forecast = {
  /** Maximum age of each camera's footage, by camera id; infinite if nothing limits it or nothing is recorded. */
  readonly reachMs: ReadonlyMap<number, number>
  /** Time until a limit deletes footage before its retention ends; infinite for never. */
  readonly userFullMs: ReadonlyMap<number, number>
  readonly archiveFullMs: number
  readonly diskFullMs: number
}

type Growth = { readonly load: CameraLoad; reachMs: number }

/** `here`: of the same cameras, what is and comes into the archive and on the disk, if other servers have the rest. */
export function forecastStorage(
  loads: readonly CameraLoad[],
  room: Room,
  here: readonly CameraLoad[] = loads,
): Forecast {
  const all = loads.map((load): Growth => ({ load, reachMs: ownReach(load) }))
  const userFullMs = new Map<number, number>()
  for (const [userId, bytes] of room.users) {
    const own = all.filter(({ load }) => load.ownerId === userId)
    userFullMs.set(userId, limit(own, bytes))
  }
  const own = here.map((load, i): Growth => ({ load, reachMs: all[i]!.reachMs }))
  const archiveFullMs = limit(own, room.archiveBytes)
  const diskFullMs = limit(own, room.diskBytes)
  const reachMs = new Map(own.map((growth) => [growth.load.cameraId, growth.reachMs]))
  return { reachMs, userFullMs, archiveFullMs, diskFullMs }
}

/** By the camera's own limits. */
function ownReach({ bytesPerMs, maxAgeMs, maxBytes }: CameraLoad): number {
  if (bytesPerMs === 0) return Number.POSITIVE_INFINITY
  return Math.min(
    maxAgeMs ?? Number.POSITIVE_INFINITY,
    maxBytes === undefined ? Number.POSITIVE_INFINITY : maxBytes / bytesPerMs,
  )
}

/** Reduces the ages to fit the limit. Returns the time until the limit is reached. */
function limit(cameras: readonly Growth[], bytes: number | undefined): number {
  if (bytes === undefined) return Number.POSITIVE_INFINITY
  const fullMs = findFull(cameras, bytes)
  const ageMs = findAge(cameras, bytes)
  for (const camera of cameras) if (camera.load.bytesPerMs > 0) camera.reachMs = Math.min(camera.reachMs, ageMs)
  return fullMs
}

/** The common maximum age at which the footage of all cameras has this size. */
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

/** When the footage reaches this size; each camera's grows until it reaches its maximum age. */
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

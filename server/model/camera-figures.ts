// How well the pictures of a camera arrive: what a worker counts of it, and what follows from two counts.

/** Counters of one camera since its worker began; they never decrease. */
export type CameraCounters = {
  readonly receivedBytes: number
  /** RTP packets that came, and those that never did; 0 of a camera that sends by HTTP. */
  readonly packets: number
  readonly lostPackets: number
  /** Pictures handed on, and those dropped because they were damaged or needed one that was. */
  readonly videoFrames: number
  readonly droppedFrames: number
  /** Connections that reached a picture. */
  readonly connections: number
  /** Times without a picture for more than a second while connected, and their sum in milliseconds. */
  readonly freezes: number
  readonly frozenMs: number
}

export const counterNames = [
  'receivedBytes',
  'packets',
  'lostPackets',
  'videoFrames',
  'droppedFrames',
  'connections',
  'freezes',
  'frozenMs',
] as const satisfies readonly (keyof CameraCounters)[]

export const noCounters: CameraCounters = {
  receivedBytes: 0,
  packets: 0,
  lostPackets: 0,
  videoFrames: 0,
  droppedFrames: 0,
  connections: 0,
  freezes: 0,
  frozenMs: 0,
}

/** Counters and what they were lately; Unix milliseconds. */
export type CameraFigures = CameraCounters & {
  /** The counters began at 0 then. */
  readonly sinceMs: number
  readonly atMs: number
  /**
   * Over the last minute; undefined while no pictures come. Bits a second, of all that the camera sends; pictures a
   * second.
   */
  readonly bitRate: number | undefined
  readonly frameRate: number | undefined
  /** Seconds that pass while the timestamps of the camera's pictures pass one: 1 where its clock is right. */
  readonly clockRate: number
  /**
   * Parts of the packets and of the pictures that were lost in the last ten minutes; undefined when there were none.
   */
  readonly packetLoss: number | undefined
  readonly frameLoss: number | undefined
}

export function addCounters(a: CameraCounters, b: CameraCounters): CameraCounters {
  return combine(a, b, (x, y) => x + y)
}

export function subtractCounters(a: CameraCounters, b: CameraCounters): CameraCounters {
  return combine(a, b, (x, y) => x - y)
}

/** Of the packets of this time; undefined when there were none. */
export function findPacketLoss({ packets, lostPackets }: CameraCounters): number | undefined {
  const all = packets + lostPackets
  return all === 0 ? undefined : lostPackets / all
}

/** Of the pictures of this time; undefined when there were none. */
export function findFrameLoss({ videoFrames, droppedFrames }: CameraCounters): number | undefined {
  const all = videoFrames + droppedFrames
  return all === 0 ? undefined : droppedFrames / all
}

/** The share that must be lost before the owner is told, and the share below which the loss is over. */
const manyPackets = { from: 0.01, below: 0.002 }
const manyPictures = { from: 0.05, below: 0.01 }

/** Whether a camera lost much, little, or something in between. */
export function judgeLoss(counters: CameraCounters): 'much' | 'some' | 'little' {
  const packets = findPacketLoss(counters) ?? 0
  const pictures = findFrameLoss(counters) ?? 0
  if (packets >= manyPackets.from || pictures >= manyPictures.from) return 'much'
  return packets < manyPackets.below && pictures < manyPictures.below ? 'little' : 'some'
}

function combine(a: CameraCounters, b: CameraCounters, of: (x: number, y: number) => number): CameraCounters {
  const result: { -readonly [name in keyof CameraCounters]: number } = { ...noCounters }
  for (const name of counterNames) result[name] = of(a[name], b[name])
  return result
}

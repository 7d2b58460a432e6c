// Stream statistics of a camera: the counters of a worker, and what follows from two readings of them.

/** Counters of one camera since its worker started; they never decrease. */
import type { Deviation } from '../base/deviation.ts'

export type CameraCounters = {
  readonly receivedBytes: number
  /** RTP packets that arrived and packets that were lost; 0 for cameras over HTTP. */
  readonly packets: number
  readonly lostPackets: number
  /** Frames passed on, and frames dropped because they or a frame they depend on were damaged. */
  readonly videoFrames: number
  readonly droppedFrames: number
  /** Connections that delivered a frame. */
  readonly connections: number
  /** Number of times without a frame for more than a second while connected, and their total in milliseconds. */
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

/** Counters and recent rates; times in Unix milliseconds. */
export type CameraFigures = CameraCounters & {
  /** When the counters started at 0. */
  readonly sinceMs: number
  readonly atMs: number
  /**
   * Over the last minute; undefined while no frames arrive. Total bits per second of the stream, and frames per
   * second.
   */
  readonly bitRate: number | undefined
  readonly frameRate: number | undefined
  /** Seconds of real time per second of the camera's timestamps: 1 if its clock is right. */
  readonly clockRate: number
  /** Since the server started. */
  readonly deviations: readonly Deviation[]
  /**
   * Shares of packets and frames that were lost in the last ten minutes; undefined if there were none.
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

/** Share of the packets in this time; undefined if there were none. */
export function findPacketLoss({ packets, lostPackets }: CameraCounters): number | undefined {
  const all = packets + lostPackets
  return all === 0 ? undefined : lostPackets / all
}

/** Share of the frames in this time; undefined if there were none. */
export function findFrameLoss({ videoFrames, droppedFrames }: CameraCounters): number | undefined {
  const all = videoFrames + droppedFrames
  return all === 0 ? undefined : droppedFrames / all
}

/** The share of losses above which the owner is notified, and the share below which the problem is over. */
const manyPackets = { from: 0.01, below: 0.002 }
const manyFrames = { from: 0.05, below: 0.01 }

/** Classifies losses as high, low, or in between. */
export function judgeLoss(counters: CameraCounters): 'much' | 'some' | 'little' {
  const packets = findPacketLoss(counters) ?? 0
  const frames = findFrameLoss(counters) ?? 0
  if (packets >= manyPackets.from || frames >= manyFrames.from) return 'much'
  return packets < manyPackets.below && frames < manyFrames.below ? 'little' : 'some'
}

function combine(a: CameraCounters, b: CameraCounters, of: (x: number, y: number) => number): CameraCounters {
  const result: { -readonly [name in keyof CameraCounters]: number } = { ...noCounters }
  for (const name of counterNames) result[name] = of(a[name], b[name])
  return result
}

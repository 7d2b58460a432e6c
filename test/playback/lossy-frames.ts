// The frames of a camera that remain when packets are lost, as ingest delivers them, and of a camera that pauses.

import type { Frame } from '../../server/media/frame.ts'

/** Seconds on the time axis of the frames. */
export type Seconds = readonly [from: number, to: number]

export type Faults = {
  /** Frames were lost in between; the ones after them up to the next key frame are dropped. */
  readonly losses?: readonly Seconds[] | undefined
  /** Frames were damaged and recorded as received. */
  readonly damaged?: readonly Seconds[] | undefined
  /** The camera sent no frames and continued without a key frame. */
  readonly pauses?: readonly Seconds[] | undefined
  /** The camera's timestamps step ahead by so many seconds, and its frames go on. */
  readonly steps?: readonly { readonly at: number; readonly by: number }[] | undefined
}

export function* spoilFrames(
  frames: Iterable<Frame>,
  { losses = [], pauses = [], damaged = [], steps = [] }: Faults,
): Generator<Frame> {
  let isAfterLoss = false
  for (const frame of frames) {
    if (frame.kind === 'audio') {
      yield frame
      continue
    }
    const isIn = ([from, to]: Seconds) =>
      frame.pts90k >= Math.round(from * 90_000) && frame.pts90k < Math.round(to * 90_000)
    if (losses.some(isIn)) isAfterLoss = true
    else if (!pauses.some(isIn) && (frame.isKey || !isAfterLoss)) {
      const stepped = steps
        .filter(({ at }) => frame.pts90k >= at * 90_000)
        .reduce((sum, { by }) => sum + by * 90_000, 0)
      const times = { pts90k: frame.pts90k + stepped, dts90k: frame.dts90k + stepped }
      yield { ...frame, ...times, isAfterLoss, isDamaged: damaged.some(isIn) }
      isAfterLoss = false
    }
  }
}

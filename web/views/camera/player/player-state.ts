// State of a video element. Reports changes, so that the page can explain why the video does not play.

import { type RefObject, useEffect, useRef } from 'react'
import { playVideo } from './hls-video.ts'

/**
 * `starting` until the first frame, `waiting` while the next frames are missing, `ended` when there are no more,
 * `blocked` when the browser requires user interaction first.
 */
export type PlayerState = 'starting' | 'playing' | 'waiting' | 'ended' | 'blocked'

export type ProgressOptions = {
  readonly isPaused: boolean
  /** Identifies the video; another value resets the state. */
  readonly of: unknown
  readonly onState: (state: PlayerState) => void
  /** Stalled for so long that waiting will not help. */
  readonly onStuck: () => void
}

const lookEveryMs = 500
const waitingFromMs = 3_000
/** The first frame of a camera that nobody else is watching takes longer. */
const startingForMs = 8_000
const stuckFromMs = 12_000

export function useProgress(video: RefObject<HTMLVideoElement | null>, options: ProgressOptions): void {
  const latest = useRef(options)
  latest.current = options
  const { of } = options
  useEffect(() => {
    let place: number | undefined
    let hasMoved = false
    let movedMs = Date.now()
    let reported: PlayerState | undefined
    const tell = (state: PlayerState) => {
      if (state !== reported) latest.current.onState(state)
      reported = state
    }
    const timer = setInterval(() => {
      const element = video.current
      const nowMs = Date.now()
      // Browsers throttle hidden tabs, which is not an error.
      if (!element || latest.current.isPaused || document.hidden) {
        movedMs = nowMs
        return
      }
      if (place !== undefined && element.currentTime !== place) {
        hasMoved = true
        movedMs = nowMs
      }
      place = element.currentTime
      const stillMs = nowMs - movedMs
      if (element.ended) tell('ended')
      // Interrupted by loading another stream, or the browser requires user interaction.
      else if (element.paused && element.readyState >= element.HAVE_FUTURE_DATA)
        playVideo(element, () => tell('blocked'))
      else if (stillMs >= (hasMoved ? waitingFromMs : startingForMs)) tell('waiting')
      else tell(hasMoved ? 'playing' : 'starting')
      if (element.ended || stillMs < stuckFromMs) return
      movedMs = nowMs
      latest.current.onStuck()
    }, lookEveryMs)
    return () => clearInterval(timer)
  }, [of, video])
}

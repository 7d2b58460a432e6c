// How a video gets on: told when it changes, so that the page can say why a picture stands still.

import { type RefObject, useEffect, useRef } from 'react'
import { playVideo } from './hls-video.ts'

/**
 * `starting` until the first picture, `waiting` when the next ones do not come, `ended` when there are no more; `blocked` when the
 * browser wants the person to do something first.
 */
export type PlayerState = 'starting' | 'playing' | 'waiting' | 'ended' | 'blocked'

export type ProgressOptions = {
  readonly isPaused: boolean
  /** Another value is another video: it starts anew. */
  readonly of: unknown
  readonly onState: (state: PlayerState) => void
  /** It has been standing still for so long that waiting on will not help. */
  readonly onStuck: () => void
}

const lookEveryMs = 500
const waitingFromMs = 3_000
/** The first picture of a camera that nobody else watches takes its time. */
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
    let told: PlayerState | undefined
    const tell = (state: PlayerState) => {
      if (state !== told) latest.current.onState(state)
      told = state
    }
    const timer = setInterval(() => {
      const element = video.current
      const nowMs = Date.now()
      // A tab that nobody sees may be slowed down by the browser; that is no fault.
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
      // Loading another stream has stopped it, or the browser wants the person to do something first.
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

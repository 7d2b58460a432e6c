// The line or the computer was too slow for video, or did not begin to play it, which need not stay so.

import { useEffect, useRef } from 'react'
import type { MseFailure } from './mse-video.ts'

const firstMs = 30_000
const longestMs = 15 * 60_000

/** Calls `retry` some time after such a failure: each time twice as long after, because an attempt interrupts. */
export function useSlowRetry(failure: MseFailure | undefined, retry: () => void): void {
  const mayPass = failure !== undefined && failure !== 'media'
  const last = useRef({ waitMs: 0, endMs: 0 })
  useEffect(() => {
    if (!mayPass) return
    const nowMs = performance.now()
    const { waitMs: lastMs, endMs } = last.current
    // What was fast enough for so long is tried again as soon as in the beginning.
    const waitMs = nowMs - endMs > longestMs ? firstMs : Math.min(Math.max(firstMs, 2 * lastMs), longestMs)
    last.current = { waitMs, endMs: nowMs + waitMs }
    const timer = setTimeout(retry, waitMs)
    return () => clearTimeout(timer)
  }, [mayPass, retry])
}

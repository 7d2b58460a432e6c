// The line or the computer was too slow for video, which need not stay so.

import { useEffect, useRef } from 'react'

const firstMs = 30_000
const longestMs = 15 * 60_000

/** Calls `retry` some time after `isSlow` became true: each time twice as long after, because an attempt interrupts. */
export function useSlowRetry(isSlow: boolean, retry: () => void): void {
  const last = useRef({ waitMs: 0, endMs: 0 })
  useEffect(() => {
    if (!isSlow) return
    const nowMs = performance.now()
    const { waitMs: lastMs, endMs } = last.current
    // What was fast enough for so long is tried again as soon as in the beginning.
    const waitMs = nowMs - endMs > longestMs ? firstMs : Math.min(Math.max(firstMs, 2 * lastMs), longestMs)
    last.current = { waitMs, endMs: nowMs + waitMs }
    const timer = setTimeout(retry, waitMs)
    return () => clearTimeout(timer)
  }, [isSlow, retry])
}
